// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.node;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.ir.Function;
import io.kiln.ir.Result;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Runs the generated C of many tests in few programs of this machine. */
final class HostSweep {
    private static final String TARGET = "c -keys=cpu -model=host";
    private static final int IN_A_PROGRAM = 100;

    private final Path folder;
    private int programs;

    HostSweep(Path folder) {
        this.folder = folder;
    }

    /**
     * The outcomes, with those that the generated C gets wrong as wrong.
     *
     * @param chosen those that are compiled
     */
    List<Outcome> check(List<Outcome> outcomes, Predicate<Outcome> chosen) {
        List<Outcome> checked = new ArrayList<>();
        List<Outcome> passed = new ArrayList<>();
        List<CompiledModel> compiled = new ArrayList<>();
        for (Outcome outcome : outcomes) {
            if (outcome.kind() != Outcome.Kind.PASSED || !chosen.test(outcome)) {
                checked.add(outcome);
                continue;
            }
            try {
                compiled.add(compile(outcome.function().orElseThrow()));
                passed.add(outcome);
            } catch (KilnException e) {
                checked.add(outcome.wrong("it does not compile: " + e.getMessage()));
            }
        }
        for (int i = 0; i < passed.size(); i += IN_A_PROGRAM) {
            int end = Math.min(i + IN_A_PROGRAM, passed.size());
            checked.addAll(run(passed.subList(i, end), compiled.subList(i, end)));
        }
        return checked;
    }

    private static CompiledModel compile(Function function) {
        return ModelCompiler.compile(
                RequestDraft.of(Path.of("node.onnx"), TARGET)
                        .name(function.name())
                        .build(),
                function);
    }

    /** A program that fails is split, so that one test does not hide the others. */
    private List<Outcome> run(List<Outcome> tests, List<CompiledModel> compiled) {
        try {
            return compare(tests, answers(tests, compiled));
        } catch (AssertionError e) {
            if (tests.size() == 1) {
                return List.of(tests.get(0).wrong(e.getMessage()));
            }
            int half = tests.size() / 2;
            List<Outcome> both = new ArrayList<>(run(tests.subList(0, half), compiled.subList(0, half)));
            both.addAll(run(tests.subList(half, tests.size()), compiled.subList(half, tests.size())));
            return both;
        }
    }

    private Bytes answers(List<Outcome> tests, List<CompiledModel> compiled) {
        List<ModelMetadata> models =
                compiled.stream().map(c -> c.library().metadata()).toList();
        List<List<Artifact>> artifacts =
                compiled.stream().map(c -> c.library().artifacts().artifacts()).toList();
        List<Bytes> inputs = tests.stream()
                .flatMap(o -> o.test().inputs().stream())
                .map(t -> t.constant().data())
                .toList();
        return HostProgram.build(folder.resolve("program" + programs++), models, artifacts)
                .run(inputs);
    }

    private static List<Outcome> compare(List<Outcome> tests, Bytes answers) {
        List<Outcome> outcomes = new ArrayList<>();
        int at = 0;
        for (Outcome outcome : tests) {
            Function function = outcome.function().orElseThrow();
            List<Bytes> own = new ArrayList<>();
            for (Result result : function.results()) {
                byte[] bytes = new byte
                        [Math.toIntExact(function.types().get(result.id()).bytes())];
                answers.buffer().get(at, bytes);
                at += bytes.length;
                own.add(Bytes.wrap(bytes));
            }
            String what = Outcome.difference(outcome.test(), function, own);
            outcomes.add(what.isEmpty() ? outcome : outcome.wrong("generated C: " + what));
        }
        return outcomes;
    }
}
