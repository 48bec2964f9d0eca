//! 0x62 EntitySync, S>C: frames of entities (docs/protocol.md 2.3); 2 + 36 x count bytes, 1,190 at most.
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 1 | count | u8, 1 to 33 |
//! | 2 | entities | count records of 36 bytes |
//!
//! A record:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 0 | entity_id | u32 |
//! | 4 | tick | u32 |
//! | 8 | position | vec3 |
//! | 20 | velocity | vec3 |
//! | 32 | heading | f32 |
//!
//! A server builds each record once a tick with [`EntityFrame::encode_record`], and each datagram from
//! [`EntitySync::encode_header`] and copies of records.

use crate::constants::{ENTITY_FRAME_LEN, MAX_ENTITY_FRAMES};
use crate::error::DecodeError;
use crate::packet::{Body, decode_alone, encode_alone};
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::vector::Vec3;
use crate::writer::Writer;

/// The newest frames of entities in view, 1 to 33 of them.
#[derive(Debug, Clone, PartialEq)]
pub struct EntitySync {
    /// The frames. Only the first 33 are encoded, and a packet without any is refused by its receiver.
    pub entities: Vec<EntityFrame>,
}

/// A frame of an entity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EntityFrame {
    /// Number of the entity.
    pub entity_id: u32,
    /// Tick of the server at which the entity was there.
    pub tick: u32,
    /// Where, in metres.
    pub position: Vec3,
    /// Metres per second.
    pub velocity: Vec3,
    /// Facing, radians in [-pi, pi).
    pub heading: f32,
}

impl EntitySync {
    /// Appends the datagram.
    pub fn encode(&self, out: &mut Vec<u8>) {
        encode_alone(self, out);
    }

    /// Reads the datagram.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(datagram: &[u8]) -> Result<Self, DecodeError> {
        decode_alone(datagram)
    }

    /// Appends the two bytes before `count` (1 to 33) records.
    pub fn encode_header(count: u8, out: &mut Vec<u8>) {
        out.extend_from_slice(&[PacketId::EntitySync.byte(), count]);
    }
}

impl EntityFrame {
    /// Appends the record: 36 bytes.
    pub fn encode_record(&self, out: &mut Vec<u8>) {
        out.reserve(ENTITY_FRAME_LEN);
        self.write(&mut Writer::new(out));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            entity_id: reader.u32("entity_id")?,
            tick: reader.u32("tick")?,
            position: reader.vec3("position")?,
            velocity: reader.vec3("velocity")?,
            heading: reader.f32("heading")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.entity_id);
        writer.u32(self.tick);
        writer.vec3(self.position);
        writer.vec3(self.velocity);
        writer.f32(self.heading);
    }
}

impl Body for EntitySync {
    const ID: PacketId = PacketId::EntitySync;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            entities: reader.records("entities", 1, MAX_ENTITY_FRAMES, EntityFrame::read)?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.records(&self.entities, MAX_ENTITY_FRAMES, EntityFrame::write);
    }
}
