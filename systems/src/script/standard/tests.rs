use std::{
    any::TypeId,
    collections::BTreeMap,
    panic,
    time::{Duration, Instant},
};

use decitick_components::script::{MemoryGauge, Stopwatch};
use rhai::{Array, Blob, Dynamic, FnPtr, ImmutableString, Map, Scope};

use super::*;
use crate::script::fuse::Cut;

fn engine() -> (Engine, Arc<Fuse>) {
    let fuse = Fuse::new(Stopwatch::default(), MemoryGauge::default());
    let mut engine = Engine::new_raw();
    for module in modules(&fuse) {
        engine.register_global_module(module);
    }
    configure(&mut engine);
    let hook = Arc::clone(&fuse);
    engine.on_progress(move |operations| hook.progress(operations).map(Cut::token));
    (engine, fuse)
}

fn eval(script: &str) -> Dynamic {
    engine()
        .0
        .eval(script)
        .unwrap_or_else(|error| panic!("{script}: {error}"))
}

fn error(script: &str) -> String {
    engine().0.eval::<Dynamic>(script).unwrap_err().to_string()
}

#[track_caller]
fn shows(script: &str, expected: &str) {
    assert_eq!(format!("{:?}", eval(script)), expected, "{script}");
}

/// Runs on a thread with a stack as large as the tick's.
fn on_a_large_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(272 << 20).spawn(test);
    thread.unwrap().join().unwrap();
}

#[test]
fn replaced_functions_do_what_the_engines_own_do() {
    let own = Engine::new();
    for script in [
        r#""añb".to_upper() + 'x'.to_lower()"#,
        r#"let s = "a-b-c"; s.replace("-", "++"); s.replace('a', 'z'); s.replace('b', "yy"); s.replace("c", 'x'); s"#,
        r#"let s = "añ"; s.pad(5, '*'); s.pad(8, "xy"); s"#,
        r#"["a,b,c".split(","), "a,b,c".split(',', 2), "a,b,c".split_rev(","), "a,b,c".split_rev(",", 2), "".split(",")]"#,
        r#"["a b  c".split(), "".split(), "abc".split(1), "abc".split(-1), "abc".split(-9), "abc".split(0), "abc".split(9)]"#,
        r#"["abc".to_chars(), "ab".split(""), "abc".split("", 2)]"#,
        r#"["hello".sub_string(1, 3), "hello".sub_string(-3, 2), "hello".sub_string(2), "hello".sub_string(1..3)]"#,
        r#"["hello".sub_string(1..=3), "hello".sub_string(9, 1), "hello".sub_string(-9, 2), "hello".sub_string(0, -1)]"#,
        r#"let s = "hello"; s.crop(1, 3); let t = "hello"; t.crop(2..4); let u = "hello"; u.crop(-2); [s, t, u]"#,
        r#"["añbñ".index_of("ñ"), "añbñ".index_of('ñ', 2), "añbñ".index_of("ñ", -1), "abc".index_of("x"), "".index_of("")]"#,
        r#"["añb".get(1), "añb".get(-1), "añb".get(5), "añb".get(-5)]"#,
        r#"let s = "añb"; s.set(1, 'x'); s.set(-1, 'y'); s.set(9, 'z'); s.set(-9, 'z'); s"#,
        r#"let s = "hello"; let p = s.pop(2); let q = s.pop(); [s, p, q, s.pop(9), s]"#,
        r#"let l = []; for c in "añb" { l.push(c); } for c in "hello".chars(1, 2) { l.push(c); } for c in "xy".chars { l.push(c); } l"#,
        r#"["a" + 1, 1 + "a", "a" + 1.5, "a" + true, "a" + (), "a" + [1, "b", 'c'], #{a: 1} + "x", "a" + 'b', "a" + "b"]"#,
        r#"let s = "a"; s += 1; s += [2]; s += "b"; s += 'c'; s.append(#{x: ()}); s += (); s"#,
        r#"[[1, "a", ['b', ()], #{x: 1.5, y: [true]}].to_string(), #{}.to_string(), [].to_debug(), "q\"\n".to_debug()]"#,
        r#"let a = [1]; a.pad(3, "x"); let b = blob(3, 257); b.pad(5, 2); [a, b, b.to_array(), blob(2), "ab".to_blob().as_string()]"#,
        r#"let a = [3, 1, 2]; a.sort(); let b = ["b", "a"]; b.sort(); let c = [1.5, -1.0]; c.sort_desc(); [a, b, c, [2, 1].order()]"#,
        r#"let a = [3, 1, 2]; a.sort(|x, y| y - x); let b = [3, 1, 2]; b.sort_by(|x, y| x < y); [a, b, [1, 2].order(|x, y| y - x)]"#,
        r#"let a = [1, 1, 2, 2, 1]; a.dedup(); let b = [1, 3, 2]; b.dedup(|x, y| x % 2 == y % 2); [a, b]"#,
        r#"[[1, [2, #{a: 3}]] == [1, [2, #{a: 3}]], [1] != [2], #{a: 1} == #{a: 2}, [1, "a"] == ["a", 1], #{} != #{}]"#,
        r#"[1 in [1, 2], "a" in ["a"], [1] in [[1]], 1.0 in [1], [5, 6].index_of(6), [5, 6, 5].index_of(5, 1), [5].index_of(9)]"#,
        r#"[parse_int("12"), parse_int(" -7 "), parse_int("ff", 16), parse_float("1.5")]"#,
        r#"#{a: 1, b: [true, ()], c: "x"}.to_json()"#,
        r#"let s = "  x "; s.trim(); let b = "x"; b += blob(2, 65); [s, b, "x" + blob(1, 66), blob(1, 67) + "x"]"#,
        r#"`${[1, 2]} ${#{a: "b"}} ${()} ${1.0}`"#,
    ] {
        let expected: Dynamic = own
            .eval(script)
            .unwrap_or_else(|error| panic!("{script}: {error}"));
        shows(script, &format!("{expected:?}"));
    }
}

#[test]
fn additions_are_there() {
    shows(r#"[1, "a", [2]].join(", ")"#, r#""1, a, [2]""#);
    shows(r#"[].join("x")"#, r#""""#);
    shows(r#""  x ".trimmed()"#, r#""x""#);
    for (name, signature, documentation) in ADDITIONS {
        assert!(signature.contains(name) && documentation.ends_with('.'));
    }
}

#[test]
fn what_stops_the_server_is_not_there_and_says_what_is() {
    assert!(error("sleep(1)").contains("use timers::after(ms, fn)"));
    assert!(error("sleep(1.5)").contains("use timers::after(ms, fn)"));
    assert!(error("timestamp()").contains("tick(dt)"));
    for script in [
        "eval(\"1\")",
        "let a = 1; take(a)",
        "parse_json(\"{}\")",
        "get_fn_metadata_list()",
    ] {
        assert!(engine().0.eval::<Dynamic>(script).is_err(), "{script}");
    }
    shows("fn f() { exit(5); 1 } f(); 2", "5");
}

#[test]
fn results_out_of_proportion_are_refused_and_can_be_caught() {
    let doubled = "let s = \"x\"; for i in 0..20 { s += s; }";
    for script in [
        "s.replace(\"x\", \"yy\")",
        "s.replace(\"\", \"y\")",
        "s.split(\"\")",
        "s.split(\"x\")",
        "s.to_chars()",
        "s.pad(1100000, 'x')",
        "s.pad(9223372036854775807, \"xy\")",
        "s + [1]",
        "s += [s]",
        "[s, s].join(\"\")",
        "\"\".pad(3, \"\")",
        "let t = s + s; t.to_upper()",
        "let t = s + s; t.sub_string(0, 1)",
        "let t = s + s; t.index_of(\"x\")",
        "[].pad(65537, 1)",
        "blob(1048577)",
        "let b = blob(1048576); b.to_array()",
        "let b = blob(); b.pad(9223372036854775807, 0)",
        "let a = []; for i in 0..16385 { a.push(i); } a.sort()",
        "let a = []; for i in 0..16385 { a.push(i); } a.order(|a, b| a - b)",
        "parse_int(s)",
        "#{a: s, b: s}.to_json()",
    ] {
        let caught = format!("{doubled} try {{ {script}; }} catch (e) {{ return `caught ${{e}}`; }}");
        let answer = eval(&caught).to_string();
        assert!(
            answer.starts_with("caught ") && answer.len() < 300,
            "{script}: {answer}"
        );
    }
}

#[test]
fn a_shared_string_is_printed_up_to_the_limit() {
    for script in [
        "a.to_string()",
        "#{a: a}.to_debug()",
        "`${a}`",
        "#{a: a}.to_string()",
        "let b = [a]; `${b}`",
    ] {
        let (engine, fuse) = engine();
        let whole = format!(
            "let s = \"x\"; for i in 0..20 {{ s += s; }} let a = []; a.pad(1000, s); let t = {{ {script} }}; t.bytes"
        );
        fuse.arm(10_000_000, Duration::MAX, i64::MAX);
        let measured = allocation_counter::measure(|| {
            let length: i64 = engine.eval(&whole).unwrap();
            assert!(length <= 1 << 20, "{script}: {length}");
        });
        assert!(measured.bytes_max < 16 << 20, "{script}: {measured:?}");
        assert!(fuse.disarm().operations > 30_000, "{script}: printing is charged");
    }
}

#[test]
fn work_that_takes_long_is_cut_by_operations_alone() {
    for script in [
        "let s = \"x\"; for i in 0..20 { s += s; } let a = []; a.pad(16000, s); a.sort()",
        "let s = \"x\"; for i in 0..20 { s += s; } let t = s; t.set(-1, 'y'); let a = []; a.pad(60000, s); t in a",
        "let s = \"x\"; for i in 0..20 { s += s; } let a = []; a.pad(60000, s); a == a",
        "let s = \"x\"; for i in 0..19 { s += s; } loop { s.to_upper(); }",
        "let a = []; a.pad(16000, 1); loop { try { a.sort(|x, y| x - y) } catch {} }",
        "let a = []; a.pad(60000, 1); loop { a.dedup(|x, y| false) }",
        "loop { blob(1000000); }",
        "let a = []; a.pad(60000, 1); loop { a.map(|x| x); }",
    ] {
        let (engine, fuse) = engine();
        fuse.arm(1_000_000, Duration::MAX, i64::MAX);
        let error = engine.run(script).unwrap_err();
        assert_eq!(
            Cut::from_error(&error),
            Some(Cut::Operations),
            "{script}: {error}"
        );
        let spent = fuse.disarm();
        assert!(spent.operations < 2_200_000, "{script}: {spent:?}");
    }
}

#[test]
fn sorting_that_fails_leaves_the_array_whole() {
    shows(
        "let a = [3, 1, 2]; try { a.sort(|x, y| throw 1) } catch { } a",
        "[3, 1, 2]",
    );
    shows(
        "let a = [3, \"b\", 2]; try { a.sort() } catch { } a",
        "[3, \"b\", 2]",
    );
    shows(
        "let a = [1, 1, 2]; try { a.dedup(|x, y| throw 1) } catch { } a",
        "[1, 1, 2]",
    );
    shows("let a = [3, 1, 2]; a.sort(|x, y| 1); a.len()", "3");
    assert!(error("[1, 2].order(|a, b| \"x\")").contains("an int or a bool"));
}

fn nested(levels: usize) -> Dynamic {
    let mut value = Dynamic::UNIT;
    for _ in 0..levels {
        value = Dynamic::from_array(vec![value]);
    }
    value
}

#[test]
fn values_that_are_nested_very_deep_are_no_harm() {
    on_a_large_stack(|| {
        for script in [
            "a.to_string().len()",
            "`${a}`.len()",
            "try { a == b } catch (e) { e.len() }",
            "try { a in [b] } catch (e) { e.len() }",
            "let c = [a, b]; try { c.dedup() } catch (e) { e.len() }",
            "try { [a].join(\"\") } catch (e) { e.len() }",
            "try { #{a: a}.to_json() } catch (e) { e.len() }",
            "(\"\" + a).len()",
            "let c = a; c.len()",
        ] {
            let mut scope = Scope::new();
            scope.push_dynamic("a", nested(100_000));
            scope.push_dynamic("b", nested(100_000));
            let answer = engine().0.eval_with_scope::<Dynamic>(&mut scope, script);
            assert!(answer.is_ok(), "{script}: {answer:?}");
        }
    });
}

thread_local! {
    #[expect(clippy::disallowed_methods, reason = "what takes long must be cut by a clock that runs")]
    static START: Instant = Instant::now();
}

/// Values of the types that functions take, large and odd.
struct Values(BTreeMap<TypeId, Vec<Dynamic>>);

impl Default for Values {
    fn default() -> Self {
        let backwards = std::ops::Range { start: 5_i64, end: 2 };
        let array: Array = (0..65_536).map(Dynamic::from_int).collect();
        let map: Map = (0..10_000)
            .map(|n| (format!("key{n}").into(), n.into()))
            .collect();
        let text = "ñx ,".repeat((1 << 20) / 5);
        let ints = || {
            vec![
                (-1_i64).into(),
                i64::MIN.into(),
                i64::MAX.into(),
                65_537_i64.into(),
                3_i64.into(),
            ]
        };
        let mut kinds: BTreeMap<TypeId, Vec<Dynamic>> = BTreeMap::new();
        kinds.insert(TypeId::of::<i64>(), ints());
        kinds.insert(
            TypeId::of::<f64>(),
            vec![
                f64::NAN.into(),
                f64::INFINITY.into(),
                (-0.0).into(),
                f64::MAX.into(),
            ],
        );
        kinds.insert(TypeId::of::<bool>(), vec![true.into()]);
        kinds.insert(TypeId::of::<char>(), vec!['ñ'.into()]);
        kinds.insert(TypeId::of::<()>(), vec![().into()]);
        kinds.insert(
            TypeId::of::<ImmutableString>(),
            vec![text.into(), "".into(), "ñx".into()],
        );
        kinds.insert(
            TypeId::of::<Array>(),
            vec![Dynamic::from_array(array.clone()), Dynamic::from_array(vec![])],
        );
        kinds.insert(
            TypeId::of::<Blob>(),
            vec![
                Dynamic::from_blob(vec![0xff; 1 << 20]),
                Dynamic::from_blob(vec![]),
            ],
        );
        kinds.insert(
            TypeId::of::<Map>(),
            vec![Dynamic::from_map(map.clone()), Dynamic::from_map(Map::new())],
        );
        kinds.insert(
            TypeId::of::<FnPtr>(),
            vec![Dynamic::from(FnPtr::new("callback").unwrap())],
        );
        kinds.insert(
            TypeId::of::<std::ops::Range<i64>>(),
            vec![
                Dynamic::from(i64::MIN..i64::MAX),
                Dynamic::from(backwards.clone()),
            ],
        );
        kinds.insert(
            TypeId::of::<std::ops::RangeInclusive<i64>>(),
            vec![
                Dynamic::from(i64::MIN..=i64::MAX),
                Dynamic::from(backwards.start..=backwards.end),
            ],
        );
        kinds.insert(
            TypeId::of::<Dynamic>(),
            vec![Dynamic::from_array(array), Dynamic::from_map(map), 7_i64.into()],
        );
        Self(kinds)
    }
}

impl Values {
    /// Every choice of values for these parameters; none when one of them has a type that no script can make.
    fn combinations(&self, types: &[TypeId]) -> Vec<Vec<Dynamic>> {
        let mut all = vec![Vec::new()];
        for type_id in types {
            let values = self.0.get(type_id).map_or(&[][..], Vec::as_slice);
            all = all
                .iter()
                .flat_map(|chosen: &Vec<Dynamic>| {
                    values.iter().map(move |value| {
                        let mut chosen = chosen.clone();
                        chosen.push(value.clone());
                        chosen
                    })
                })
                .collect();
        }
        all
    }
}

/// How a script calls a function of this name with so many arguments.
fn call_of(name: &str, arguments: usize) -> String {
    let list: Vec<String> = (0..arguments).map(|index| format!("a{index}")).collect();
    if let Some(property) = name.strip_prefix("get$") {
        return format!("a0.{property}");
    }
    if name.chars().all(|c| c == '_' || c.is_alphanumeric()) {
        return format!("{name}({})", list.join(", "));
    }
    match list.as_slice() {
        [one] => format!("{name}{one}"),
        [left, right] => format!("{left} {name} {right}"),
        _ => String::new(),
    }
}

#[test]
fn no_function_panics_or_takes_much_memory_whatever_it_is_given() {
    on_a_large_stack(|| {
        let (mut engine, _) = engine();
        #[expect(
            clippy::disallowed_methods,
            reason = "what takes long must be cut by a clock that runs"
        )]
        let clock = || START.with(|start| Instant::now().duration_since(*start));
        let stopwatch = Stopwatch {
            exact: clock,
            coarse: clock,
        };
        let fuse = Fuse::new(stopwatch, MemoryGauge::default());
        for module in modules(&fuse) {
            engine.register_global_module(module);
        }
        let hook = Arc::clone(&fuse);
        engine.on_progress(move |operations| hook.progress(operations).map(Cut::token));
        let functions: Vec<(String, Vec<TypeId>)> = engine.collect_fn_metadata(
            None,
            |info| Some((info.metadata.name.to_string(), info.metadata.param_types.to_vec())),
            true,
        );
        assert!(functions.len() > 500, "{}", functions.len());
        let mut failures = Vec::new();
        let values = Values::default();
        let mut calls = 0;
        for (name, types) in functions {
            let call = call_of(&name, types.len());
            if name == "exit" || call.is_empty() {
                continue;
            }
            let Ok(ast) = engine.compile(format!("fn callback(x) {{ x }} {call}")) else {
                continue;
            };
            for picked in values.combinations(&types) {
                let mut scope = Scope::new();
                for (index, value) in picked.iter().enumerate() {
                    scope.push_dynamic(format!("a{index}"), value.clone());
                }
                calls += 1;
                fuse.arm(2_000_000, Duration::from_millis(2), i64::MAX);
                let mut result = None;
                let measured = allocation_counter::measure(|| {
                    let run =
                        panic::AssertUnwindSafe(|| engine.eval_ast_with_scope::<Dynamic>(&mut scope, &ast));
                    result = panic::catch_unwind(run).ok();
                });
                fuse.disarm();
                let kinds: Vec<&str> = picked.iter().map(Dynamic::type_name).collect();
                if result.is_none() {
                    failures.push(format!("{name}({kinds:?}) panics"));
                }
                if measured.bytes_max > 64 << 20 {
                    failures.push(format!("{name}({kinds:?}) takes {} bytes", measured.bytes_max));
                }
            }
        }
        assert!(calls > 1_000, "{calls}");
        assert!(failures.is_empty(), "{failures:#?}");
    });
}
