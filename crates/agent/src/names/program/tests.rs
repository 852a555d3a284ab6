use super::*;

fn name(executable: &str, line: &str) -> String {
    let arguments: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    named(executable, "x", &arguments, Path::new("/srv/shop")).name
}

#[test]
fn an_interpreter_is_named_with_its_script() {
    for (executable, line, expected) in [
        ("python3.11", "python3 app.py 80", "python3.11 /srv/shop/app.py"),
        ("python3.11", "python3 -u -X dev ./app.py", "python3.11 /srv/shop/app.py"),
        ("python3.11", "/usr/bin/python3 /usr/bin/gunicorn a:b", "python3.11 /usr/bin/gunicorn"),
        ("python3.11", "python3 -m http.server 80", "python3.11 -m http.server"),
        ("node", "node --require ./x.js --inspect app.js", "node /srv/shop/app.js"),
        ("java", "java -Xmx1g -cp a.jar:b.jar com.example.Main x", "java com.example.Main"),
        ("java", "java -jar kafka.jar", "java -jar /srv/shop/kafka.jar"),
        ("php8.2", "php -c /etc/php.ini worker.php", "php8.2 /srv/shop/worker.php"),
        ("bash", "-bash", "bash"),
        ("php-fpm8.2", "php-fpm: pool www", "php-fpm8.2"),
        ("nginx", "nginx -c /etc/nginx.conf", "nginx"),
    ] {
        assert_eq!(name(executable, line), expected, "{line}");
    }
}

#[test]
fn code_on_the_command_line_is_told_apart_by_what_it_is() {
    let [one, again, other] = ["python3 -c a=1 80", "python3 -c a=1 81", "python3 -c a=2 80"]
        .map(|line| name("python3.11", line));
    assert!(one.starts_with("python3.11 -c ") && one == again && one != other, "{one} {other}");
}

#[test]
fn a_link_to_an_executable_is_another_name_of_it() {
    let arguments: [&[u8]; 1] = [b"/usr/bin/redis-server *:6379"];
    let program = named("redis-check-rdb", "redis-server", &arguments, Path::new("/"));
    assert_eq!(program.name, "redis-check-rdb");
    assert!(program.also.contains(&"redis-server".to_owned()), "{program:?}");
}

#[test]
fn a_long_script_keeps_its_end_and_no_control_characters() {
    let line = format!("python3 /{}/app\u{1b}.py", "x".repeat(300));
    let name = name("python3.11", &line);
    assert!(name.len() < 150 && name.ends_with("/app .py"), "{name}");
}

#[test]
fn what_was_replaced_or_runs_from_memory_is_called_as_it_was() {
    for (link, expected) in [
        ("/usr/sbin/nginx", Some("nginx")),
        ("/usr/sbin/nginx (deleted)", Some("nginx")),
        ("/memfd:runc_cloned:/proc/self/exe (deleted)", Some("runc_cloned:/proc/self/exe")),
        ("/memfd:app (deleted)", Some("app")),
        ("/memfd: (deleted)", None),
    ] {
        assert_eq!(called(link).as_deref(), expected, "{link}");
    }
}

/// Runs itself anew from memory, then waits for the end of its input.
const FROM_MEMORY: &str = "
import os, sys
if len(sys.argv) == 1:
    fd = os.memfd_create('from-memory')
    with open(os.path.realpath('/proc/self/exe'), 'rb') as file: os.write(fd, file.read())
    os.execve(fd, [sys.executable, '-c', sys.orig_argv[2], 'again'], os.environ)
print('here', flush=True)
sys.stdin.read()
";

#[test]
fn a_process_without_a_file_is_called_by_the_name_of_its_memory() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};
    if !ackord_testing::installed(&["python3"]) {
        return;
    }
    let mut python = Command::new("python3");
    python.args(["-c", FROM_MEMORY]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = python.spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    let name = of(child.id()).map(|program| program.name);
    drop(child.stdin.take());
    child.wait().expect("ours");
    assert_eq!((line.trim(), name.as_deref()), ("here", Some("from-memory")));
}

#[test]
fn a_process_is_called_as_its_file() {
    let own = of(std::process::id()).expect("this one runs").name;
    assert!(own.starts_with("ackord_agent"), "{own}");
    assert_eq!(of(0), None);
}
