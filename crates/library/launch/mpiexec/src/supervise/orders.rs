//! What mpiexec tells an agent, and what agents below tell mpiexec through it.

use super::ending::Phase;
use super::supervisor::Supervisor;
use super::{GRACE_TIME, upward::Upward};
use crate::agent::{self, ALL_HOSTS, Down, Event, Frame, Up};
use std::io;
use std::time::Instant;

impl Supervisor<'_> {
    /// The way from mpiexec has something, or has ended.
    pub(super) fn read_parent(&mut self) -> io::Result<()> {
        let Some(link) = self.upward.as_mut().and_then(|upward| upward.link.as_mut()) else {
            return Ok(());
        };
        let arrived = link.read();
        while let Some(link) = self.upward.as_mut().and_then(|upward| upward.link.as_mut()) {
            match link.next() {
                Ok(Some(frame)) => self.take_down(&frame)?,
                Ok(None) => break,
                Err(_) => return self.lose_parent(),
            }
        }
        match arrived {
            agent::Arrived::Bytes => Ok(()),
            agent::Arrived::End => self.lose_parent(),
        }
    }

    fn take_down(&mut self, frame: &Frame) -> io::Result<()> {
        let Some(upward) = &mut self.upward else {
            return Ok(());
        };
        upward.is_paused = false;
        if frame.host != upward.host {
            upward.children.pass(frame, &self.epoll);
        }
        if frame.host != upward.host && frame.host != ALL_HOSTS {
            return Ok(());
        }
        match agent::decode::<Down>(&frame.body) {
            Some(down) => self.obey(down),
            None => self.lose_parent(),
        }
    }

    fn obey(&mut self, down: Down) -> io::Result<()> {
        let mut events = Vec::new();
        match down {
            Down::Start(_) => {}
            Down::Signal(signal) => self.take_forwarded(signal),
            Down::Report => {
                let asked = self.ask_for_reports();
                self.send_up(&Up::Reported(asked));
            }
            Down::Terminate => {
                self.with_upward(|upward| upward.children.stop_starting());
                self.enter(Phase::Terminating(Instant::now() + GRACE_TIME));
            }
            Down::Kill => {
                self.with_upward(|upward| upward.children.stop_starting());
                self.enter(Phase::Killed);
            }
            Down::Release { changed } => self.server.release(changed, &mut events),
            Down::Answer { key, value } => self.server.answer(&key, value.as_deref(), &mut events),
            Down::Gone(text) => {
                self.with_upward(|upward| upward.gone = Some(text));
                self.check_barrier();
            }
            Down::Input(bytes) => self.feed(bytes)?,
            Down::InputEnd => self.feed(Vec::new())?,
            Down::Credit(bytes) => self.output.add_credit(bytes, &self.epoll)?,
            Down::Bye => self.with_upward(|upward| upward.is_over = true),
        }
        self.handle(&mut events);
        Ok(())
    }

    fn feed(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        let is_end = bytes.is_empty();
        if let Some(input) = &mut self.input {
            input.feed(bytes, &self.epoll)?;
        }
        self.with_upward(|upward| upward.owes_taken = !is_end);
        self.tell_input_taken();
        Ok(())
    }

    /// Asks for more input once all who read it have taken what there was.
    pub(super) fn tell_input_taken(&mut self) {
        let is_taken = self.input.as_ref().is_none_or(|input| input.is_taken());
        let owes = self.upward.as_ref().is_some_and(|upward| upward.owes_taken);
        if owes && is_taken {
            let more = self.input.as_ref().is_some_and(|input| input.is_wanted());
            self.with_upward(|upward| upward.owes_taken = false);
            self.send_up(&Up::InputTaken { more });
        }
    }

    /// A signal that mpiexec has been sent.
    fn take_forwarded(&mut self, signal: i32) {
        match signal {
            libc::SIGTSTP => self.with_upward(|upward| upward.is_paused = true),
            libc::SIGUSR1 | libc::SIGCONT => {}
            _ => self.ending.ask(signal, None),
        }
        self.signal_ranks(signal);
    }

    /// Nobody tells what to do any more: the ranks are ended, and the agents below see that their way has ended.
    pub(super) fn lose_parent(&mut self) -> io::Result<()> {
        let Some(upward) = &mut self.upward else {
            return Ok(());
        };
        if let Some(link) = upward.link.take() {
            link.close(&self.epoll);
        }
        upward.children.drop_all(&self.epoll);
        self.output.refuse(&self.epoll)?;
        self.enter(Phase::Terminating(Instant::now() + GRACE_TIME));
        Ok(())
    }

    /// Passes on what agents below have said.
    pub(super) fn take_from_below(&mut self, events: Vec<Event>) {
        let epoll = &self.epoll;
        let Some(upward) = &mut self.upward else {
            return;
        };
        for event in events {
            match event {
                Event::Frame(frame) => upward.pass(&frame, epoll),
                Event::Lost { hosts, text } => upward.send(&Up::Lost { hosts, text }, epoll),
                Event::Say(text) => upward.send(&Up::Say(text), epoll),
            }
        }
    }

    pub(super) fn send_up(&mut self, message: &Up) {
        if let Some(upward) = &mut self.upward {
            upward.send(message, &self.epoll);
        }
    }

    pub(super) fn send_output(&mut self) {
        for piece in self.output.take_outbox() {
            self.send_up(&Up::Output {
                rank: piece.rank,
                error: piece.is_error,
                bytes: piece.bytes,
            });
        }
    }

    fn with_upward(&mut self, change: impl FnOnce(&mut Upward)) {
        self.upward.as_mut().map(change);
    }
}
