//! 0xA8 FilesManifest, S>C lane: the files of a resource (docs/protocol.md 2.3 and 2.7); its length follows from its texts and values.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | resource | str8 |
//! | ... | sha256 | [32] |

use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::text::Text;
use crate::writer::Writer;

/// Which files a resource has for clients: the client fetches the manifest and checks it against the hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesManifest {
    /// Name of the resource, 1 to 255 bytes.
    pub resource: Text<1, 255>,
    /// SHA-256 of its manifest.
    pub sha256: [u8; 32],
}

impl Body for FilesManifest {
    const ID: PacketId = PacketId::FilesManifest;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            resource: Text::read_str8(reader, "resource")?,
            sha256: reader.array("sha256")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        self.resource.write_str8(writer);
        writer.bytes(&self.sha256);
    }
}
