//! The thread that ticks, with a stack for what scripts make.
//!
//! A script can nest values inside each other as deep as its memory allows, and dropping them goes down level by level. A
//! guard page would end the process then, so the stack is as large as any such nest needs: measured, 64 MiB of script
//! memory take less than 128 MiB of stack. The system reserves the room and only gives what is touched.

use std::{
    io, iter,
    panic::resume_unwind,
    sync::{Mutex, PoisonError},
    thread,
};

const MIB: u64 = 1024 * 1024;
/// Bytes of stack for a byte of script memory.
const STACK_PER_MEMORY: u64 = 4;
/// What a tick needs besides.
const STACK_BESIDES: u64 = 16 * MIB;
/// More is not asked for.
const STACK_MOST: u64 = 4096 * MIB;

/// Runs a job on the thread that ticks and waits for its end. The job is told how many MiB of memory scripts may use: what
/// was asked for, or less when there is no stack for so much.
///
/// # Errors
/// When not even the smallest thread can be started.
pub(crate) fn run<T: Send>(memory_mib: u32, job: impl FnOnce(u32) -> T + Send) -> io::Result<T> {
    // A thread that cannot be started takes its closure with it, so the job waits outside.
    let job = Mutex::new(Some(job));
    let job = &job;
    thread::scope(|scope| {
        let mut refused = io::Error::other("no stack size was tried");
        for Plan {
            stack,
            memory_mib: left,
        } in plans(memory_mib)
        {
            let started = thread::Builder::new()
                .name("tick".to_owned())
                .stack_size(usize::try_from(stack).unwrap_or(usize::MAX))
                .spawn_scoped(scope, move || {
                    let job = job.lock().unwrap_or_else(PoisonError::into_inner).take();
                    job.map(|job| {
                        if left < memory_mib {
                            warn_of_less(memory_mib, left, stack);
                        }
                        job(left)
                    })
                });
            match started.map(thread::ScopedJoinHandle::join) {
                Ok(Ok(Some(result))) => return Ok(result),
                Ok(Ok(None)) => break,
                Ok(Err(panic)) => resume_unwind(panic),
                Err(error) => refused = error,
            }
        }
        Err(refused)
    })
}

fn warn_of_less(asked: u32, left: u32, stack: u64) {
    tracing::warn!(
        key = "scripts.memory_mib",
        asked,
        used = left,
        stack_mib = stack / MIB,
        "the thread that ticks has no stack for so much script memory; scripts get less"
    );
}

/// A stack and the memory of scripts that it is large enough for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    stack: u64,
    memory_mib: u32,
}

/// What to try in turn: all that is asked for, then half the stack each time, down to scripts of 1 MiB.
fn plans(memory_mib: u32) -> impl Iterator<Item = Plan> {
    let whole = (u64::from(memory_mib) * STACK_PER_MEMORY * MIB + STACK_BESIDES).min(STACK_MOST);
    iter::successors(Some(whole), |stack| Some(stack / 2)).map_while(move |stack| {
        let fits = stack.checked_sub(STACK_BESIDES)? / (STACK_PER_MEMORY * MIB);
        let memory_mib = u32::try_from(fits).unwrap_or(u32::MAX).min(memory_mib);
        (memory_mib > 0).then_some(Plan { stack, memory_mib })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_mib(memory_mib: u32) -> Vec<(u64, u32)> {
        plans(memory_mib)
            .map(|plan| (plan.stack / MIB, plan.memory_mib))
            .collect()
    }

    #[test]
    fn less_and_less_is_tried_and_scripts_never_get_more_than_the_stack_bears() {
        assert_eq!(in_mib(64), [(272, 64), (136, 30), (68, 13), (34, 4)]);
        assert_eq!(in_mib(1), [(20, 1)]);
        assert_eq!(in_mib(65_536).first(), Some(&(4096, 1020)));
        assert_eq!(in_mib(1020).first(), Some(&(4096, 1020)));
    }

    #[test]
    fn the_job_has_the_stack_its_name_and_its_answer() {
        fn deep(levels: u32) -> u32 {
            let filled = std::hint::black_box([levels; 16 * 1024]);
            if levels == 0 {
                0
            } else {
                deep(levels - 1) + u32::from(filled[levels as usize] == levels)
            }
        }
        let answer = run(64, |memory_mib| {
            let name = thread::current().name().map(str::to_owned);
            // At least 64 KiB a level, in sum far more than a thread has by itself.
            (memory_mib, name, deep(1_000))
        });
        assert_eq!(answer.unwrap(), (64, Some("tick".to_owned()), 1_000));
    }

    #[test]
    fn a_panic_goes_on_where_the_thread_was_waited_for() {
        let caught = std::panic::catch_unwind(|| run(1, |_| panic!("as meant")));
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"as meant"));
    }
}
