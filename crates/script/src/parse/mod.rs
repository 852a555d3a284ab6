//! Text to a script. Whatever the text is, the answer is a script or a list of what is wrong.
//!
//! | file | what |
//! | --- | --- |
//! | `tokens.rs` | words, numbers, expressions, quantities |
//! | `header.rs` | what comes before the first step |
//! | `time.rs` | when a line happens |
//! | `segment.rs` | segments |
//! | `assertion.rs` | assertions |
//! | `handshake.rs` | the steps that `handshake` stands for |

mod assertion;
mod handshake;
mod header;
mod segment;
mod time;
mod tokens;
mod wrong;

use crate::model::{Action, Call, Fields, Injection, Len, Number, Quiet, Script, Step};
use crate::problem::{Problem, not_among};
use ackord_units::{Bytes, Quantity, Span, Time};
use header::Header;
use segment::Segments;
use time::{LONGEST, later, time, tolerance};
use tokens::{Cursor, Variables, clipped, without_comment};
use wrong::Wrong;

/// Most steps of a script, those that `repeat` makes included.
const MOST_STEPS: usize = 100_000;
/// Most lines that are read, again for each round of a `repeat`.
const MOST_LINES: usize = 300_000;
/// Most problems that are told.
const MOST_PROBLEMS: usize = 50;
/// Deepest nesting of `repeat`.
const DEEPEST: usize = 8;

/// Reads a script.
///
/// # Errors
/// Everything that is wrong with it (the first fifty), in the order of its lines.
pub fn parse(text: &str) -> Result<Script, Vec<Problem>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut parser = Parser {
        lines: &lines,
        header: Header::default(),
        steps: Vec::new(),
        problems: Vec::new(),
        now: Time::ZERO,
        lines_read: 0,
        begun: false,
    };
    let mut variables = Variables::new();
    parser.block(0..lines.len(), &mut variables, 0);
    if parser.problems.is_empty() {
        if parser.steps.is_empty() {
            let wrong = "a script without steps shows nothing: `0 handshake`, `+0 expect ...`";
            parser.problems.push(Problem { line: 0, column: 0, wrong: wrong.to_owned() });
        } else if let Err((line, wrong)) = parser.header.check() {
            parser.problems.push(Problem { line, column: 0, wrong });
        }
    }
    if !parser.problems.is_empty() {
        return Err(parser.problems);
    }
    let Parser { header, steps, .. } = parser;
    Ok(Script {
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        stack: header.stack,
        ip: header.ip,
        iss: header.iss,
        irs: header.irs,
        reads: header.reads,
        steps,
    })
}

struct Parser<'a> {
    lines: &'a [&'a str],
    header: Header,
    steps: Vec<Step>,
    problems: Vec<Problem>,
    /// The time that the last line gave.
    now: Time,
    lines_read: usize,
    /// Whether a step has been read: no header after that.
    begun: bool,
}

impl Parser<'_> {
    /// Reads the lines of `range`, rounds of `repeat` unrolled.
    fn block(&mut self, range: std::ops::Range<usize>, variables: &mut Variables, depth: usize) {
        let mut at = range.start;
        while at < range.end && self.problems.len() < MOST_PROBLEMS {
            self.lines_read += 1;
            if self.lines_read > MOST_LINES {
                return self.problem(at, too_many_lines());
            }
            let line = without_comment(self.lines[at]);
            match line.split_whitespace().next() {
                None => at += 1,
                Some("repeat") => at = self.repeat(at, range.end, variables, depth),
                Some("end") => {
                    self.problem(at, Wrong { column: 1, what: "no `repeat` to end".to_owned() });
                    at += 1;
                }
                Some(_) => {
                    if let Err(wrong) = self.line(at, variables) {
                        self.problem(at, wrong);
                    }
                    at += 1;
                }
            }
        }
    }

    fn problem(&mut self, at: usize, wrong: Wrong) {
        self.problems.push(Problem { line: at + 1, column: wrong.column, wrong: wrong.what });
    }

    /// `repeat 5 as n` ... `end`; says where to go on.
    fn repeat(
        &mut self,
        at: usize,
        limit: usize,
        variables: &mut Variables,
        depth: usize,
    ) -> usize {
        let Some(end) = self.matching_end(at, limit) else {
            self.problem(at, Wrong { column: 1, what: "`repeat` has no `end`".to_owned() });
            return limit;
        };
        match repeat_head(self.lines[at], variables, depth) {
            Err(wrong) => self.problem(at, wrong),
            Ok((rounds, name)) => {
                let before = self.problems.len();
                for round in 0..rounds {
                    // A round costs something even if nothing is in it.
                    self.lines_read += 1;
                    if self.lines_read > MOST_LINES {
                        self.problem(at, too_many_lines());
                        break;
                    }
                    variables.insert(name.clone(), round as i64);
                    self.block(at + 1..end, variables, depth + 1);
                    // The same again in every round would be no news.
                    if self.problems.len() > before {
                        break;
                    }
                }
                variables.remove(&name);
            }
        }
        end + 1
    }

    fn matching_end(&self, at: usize, limit: usize) -> Option<usize> {
        let mut open = 0_usize;
        for (offset, line) in self.lines[at..limit].iter().enumerate() {
            match without_comment(line).split_whitespace().next() {
                Some("repeat") => open += 1,
                Some("end") => {
                    open -= 1;
                    if open == 0 {
                        return Some(at + offset);
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn line(&mut self, at: usize, variables: &Variables) -> Result<(), Wrong> {
        let line = self.lines[at];
        let mut cursor = Cursor::new(line, variables);
        let first = cursor.peek_text();
        if header::WORDS.contains(&first) {
            if self.begun {
                let what = format!("`{first}` belongs before the first step");
                return Err(cursor.wrong(what));
            }
            return self.header.line(at + 1, without_comment(line), &mut cursor);
        }
        self.begun = true;
        self.now = time(&mut cursor, self.now)?;
        let tolerance = match cursor.peek_text().starts_with("+-") {
            true => tolerance(&mut cursor, variables)?,
            false => Span::ZERO,
        };
        let command = cursor.word("a command")?;
        if matches!(command.text, "repeat" | "end") {
            let what = format!("`{}` has no time: the lines between have", command.text);
            return Err(cursor.wrong_before(what));
        }
        if tolerance > Span::ZERO && command.text != "expect" {
            return Err(cursor.wrong_before("only `expect` of a segment has a tolerance"));
        }
        self.command(at + 1, command.text, tolerance, &mut cursor)?;
        if self.steps.len() > MOST_STEPS {
            let what = format!("a script of more than {MOST_STEPS} steps");
            return Err(Wrong { column: 0, what });
        }
        Ok(())
    }

    fn command(
        &mut self,
        line: usize,
        command: &str,
        tolerance: Span,
        cursor: &mut Cursor<'_>,
    ) -> Result<(), Wrong> {
        const COMMANDS: &[&str] =
            &["handshake", "inject", "expect", "quiet", "call", "assert", "repeat", "end"];
        let at = self.now;
        let mut step = |action| self.steps.push(Step { line, at, tolerance, action });
        match command {
            "inject" => {
                let segments = segment::segments(cursor)?;
                let last_at = segments.every.saturating_mul(u64::from(segments.count));
                if last_at > LONGEST {
                    return Err(cursor.wrong(format!("it would take longer than {LONGEST}")));
                }
                step(Action::Inject(injections(&segments)));
            }
            "expect" if cursor.take_if("nothing") => {
                let quiet = self.quiet(cursor)?;
                if tolerance > Span::ZERO {
                    return Err(cursor.wrong("only `expect` of a segment has a tolerance"));
                }
                self.steps.push(Step { line, at: self.now, tolerance, action: quiet });
            }
            "expect" => {
                let segments = segment::segments(cursor)?;
                expectations(&segments).for_each(|(after, fields)| {
                    let at = at + after;
                    self.steps.push(Step { line, at, tolerance, action: Action::Expect(fields) });
                });
            }
            "quiet" => {
                let quiet = self.quiet(cursor)?;
                self.steps.push(Step { line, at: self.now, tolerance, action: quiet });
            }
            "call" => step(Action::Call(call(cursor)?)),
            "assert" => step(Action::Assert(assertion::assertions(cursor)?)),
            "handshake" => {
                let handshake = handshake::read(cursor)?;
                let passive = self.header.passive;
                self.now = handshake.steps(line, at, passive, &mut self.steps);
            }
            other => {
                return Err(cursor.wrong_before(not_among(other, "a command", COMMANDS)));
            }
        }
        Ok(())
    }

    /// What may follow `quiet` and `expect nothing`: `until 0.5`, `for 200 ms`, or nothing.
    fn quiet(&mut self, cursor: &mut Cursor<'_>) -> Result<Action, Wrong> {
        let mut quiet = Quiet::Through;
        if cursor.take_if("until") {
            self.now = time(cursor, self.now)?;
            quiet = Quiet::Until;
        } else if cursor.take_if("for") {
            let span = cursor.span("how long")?;
            self.now = later(cursor, self.now, span)?;
        }
        cursor.finish("`nothing`, `until TIME` or `for SPAN`")?;
        Ok(Action::ExpectNothing(quiet))
    }
}

fn too_many_lines() -> Wrong {
    Wrong { column: 0, what: format!("`repeat` makes more than {MOST_LINES} lines") }
}

/// Number of rounds and name of the variable.
fn repeat_head(line: &str, variables: &Variables, depth: usize) -> Result<(u64, String), Wrong> {
    let mut cursor = Cursor::new(line, variables);
    cursor.take();
    if depth >= DEEPEST {
        return Err(cursor.wrong_before(format!("more than {DEEPEST} `repeat`s inside each other")));
    }
    let rounds = cursor.count("how many rounds", MOST_STEPS as u64)?;
    let name = match cursor.take_if("as") {
        true => cursor.word("the name of a variable")?.text,
        false => "_",
    };
    let sound = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    if !sound || variables.contains_key(name) && name != "_" {
        let given = clipped(name);
        let what = format!("`{given}` cannot name a variable: lower-case letters, not yet taken");
        return Err(cursor.wrong_before(what));
    }
    // A name that is a unit would make `20 n` ambiguous.
    if [Span::UNITS, Bytes::UNITS].iter().flat_map(|units| units.iter()).any(|(u, _)| *u == name) {
        return Err(cursor.wrong_before(format!("`{name}` is a unit and cannot name a variable")));
    }
    cursor.finish("`repeat N as name`")?;
    Ok((rounds, name.to_owned()))
}

fn call(cursor: &mut Cursor<'_>) -> Result<Call, Wrong> {
    const CALLS: &[&str] = &["connect", "listen", "write", "read", "close", "release", "abort"];
    let name = cursor.word("what the application does")?;
    let call = match name.text {
        "connect" => Call::Connect,
        "listen" => Call::Listen,
        "close" => Call::Close,
        "release" => Call::Release,
        "abort" => Call::Abort,
        "read" if cursor.take_if("all") => Call::ReadAll,
        "read" => Call::Read(cursor.bytes("how much it reads (or `all`)")?),
        "write" => {
            let bytes = cursor.bytes("how much it writes")?;
            let takes = match cursor.take_if("takes") {
                true => cursor.bytes("how much of it the endpoint takes")?,
                false => bytes,
            };
            Call::Write { bytes, takes }
        }
        other => return Err(cursor.wrong_before(not_among(other, "a call", CALLS))),
    };
    cursor.finish("the call")?;
    Ok(call)
}

/// The segments of a line, each with its time after the line's own.
fn expectations(segments: &Segments) -> impl Iterator<Item = (Span, Fields)> {
    let Segments { fields, count, every } = segments.clone();
    (0..count).map(move |index| {
        let mut fields = fields.clone();
        // The next one begins where this one ends.
        if let (Some(Number::Relative(first)), Len::Bytes(len)) = (fields.seq, fields.len) {
            let ahead = i64::from(len) * i64::from(index);
            fields.seq = Some(Number::Relative(first + ahead));
        }
        (every * u64::from(index), fields)
    })
}

fn injections(segments: &Segments) -> Vec<Injection> {
    expectations(segments).map(|(after, fields)| Injection { after, fields }).collect()
}
