//! What a resource has at clients: files and pages; and whether it judges logins now.

use std::sync::Arc;

use decitick_components::{
    client_files::ClientManifest,
    pages::{ViewRequest, ViewWish},
    script::ResourceName,
};

use super::{Host, lock};
use crate::script::{desk::Desk, loading::LoadedResource};

impl Host {
    /// Nothing but the files for clients changed: the resource runs on.
    pub(super) fn take_files(&mut self, loaded: LoadedResource) {
        if !self.is_started(&loaded.name) {
            return;
        }
        match loaded.result {
            Ok(prepared) => {
                let name = loaded.name;
                self.publish(&name, prepared.client_files);
                tracing::info!(resource = name.as_str(), "client files changed");
            }
            Err(faults) => self.tell_faults(&loaded.name, &faults),
        }
    }

    /// A resource has these files for clients from now on.
    pub(super) fn publish(&self, name: &ResourceName, files: Option<Arc<ClientManifest>>) {
        let mut desk = lock(&self.toolkit.desk);
        let Desk { offices, wishes, .. } = &mut *desk;
        let Some(office) = offices.get_mut(name) else {
            return;
        };
        if office.client_files.is_some() || files.is_some() {
            office.client_files.clone_from(&files);
            wishes.files.push((name.clone(), files));
        }
    }

    /// The run of the resource that judges logins, while it can judge.
    pub(crate) fn judge(&self) -> Option<u64> {
        let desk = lock(&self.toolkit.desk);
        let instance = self.instances.get(desk.facts.auth.as_ref()?)?;
        let able = instance.begun && !instance.paused && instance.program.manifest.auth;
        able.then_some(instance.number)
    }
}

/// The pages of a resource that is gone are shown no longer.
pub(super) fn close_views(desk: &mut Desk, name: &ResourceName) {
    let players = desk
        .mirror
        .players
        .values()
        .map(|copy| (copy.entity, &copy.views));
    let newcomers = desk
        .mirror
        .newcomers
        .values()
        .map(|copy| (copy.entity, &copy.views));
    let requests: Vec<ViewRequest> = players
        .chain(newcomers)
        .flat_map(|(entity, views)| views.of(name).map(move |view| (entity, view)))
        .map(|(entity, view)| ViewRequest {
            entity,
            resource: name.clone(),
            wish: ViewWish::Close(view),
        })
        .collect();
    for request in requests {
        desk.mirror.play_view(&request);
        desk.wishes.views.push(request);
    }
}
