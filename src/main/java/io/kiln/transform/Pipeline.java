// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Result;
import io.kiln.ir.Verifier;
import io.kiln.ir.legality.Legality;
import io.kiln.ir.op.Trait;
import io.kiln.reference.ConstantFolder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Runs passes in order. Before the first and after each that changes something, it verifies the function and its legality.
 *
 * @param passes all passes
 * @param disabled names of the skipped passes
 */
public record Pipeline(List<Pass> passes, Set<String> disabled) {
    private static final String IMPORT = "import";

    public Pipeline {
        passes = List.copyOf(passes);
        disabled = Set.copyOf(disabled);
    }

    /** The passes for every model. */
    public static Pipeline standard() {
        return of(PassOptions.DEFAULT);
    }

    /** The passes after the user's changes. */
    public static Pipeline of(PassOptions options) {
        return of(options, List.of());
    }

    /**
     * The passes after the user's changes.
     *
     * @param beforeFusion further passes that run before operators are fused, in order
     */
    public static Pipeline of(PassOptions options, List<Pass> beforeFusion) {
        List<Pass> passes = new ArrayList<>(List.of(
                new FoldConstants(),
                new SimplifyReshapes(),
                new FoldPadding(),
                new EliminateDeadBindings(),
                new RemoveConstantChannels()));
        passes.addAll(beforeFusion);
        passes.add(new FuseOperators(options.maxFusionDepth()));
        return new Pipeline(passes, options.disabled());
    }

    /** The result of the last pass, for the function and the functions that it calls. */
    public Function run(Function function) {
        List<Stage> stages = stages(function);
        return stages.get(stages.size() - 1).function();
    }

    private static Function run(Pass pass, Function function, ConstantFolder folder) {
        List<Function> called =
                function.functions().stream().map(f -> run(pass, f, folder)).toList();
        return pass.run(function.withFunctions(called), folder);
    }

    /** The imported function, then the result of each pass that runs. */
    public List<Stage> stages(Function function) {
        verify(function);
        List<Stage> stages = new ArrayList<>();
        stages.add(new Stage(0, IMPORT, function));
        Function current = function;
        ConstantFolder folder = new ConstantFolder(function.constantBytes());
        for (int i = 0; i < passes.size(); i++) {
            Pass pass = passes.get(i);
            if (!disabled.contains(pass.name())) {
                Function next = run(pass, current, folder);
                // Most passes change nothing, and comparing functions that share their parts is quicker than verifying
                // one.
                if (!next.equals(current)) {
                    verify(next);
                }
                current = next;
                stages.add(new Stage(i + 1, pass.name(), current));
            }
        }
        return stages;
    }

    private static void verify(Function function) {
        Verifier.verify(function);
        Legality.verify(function);
    }

    /**
     * A function at one stage of the pipeline.
     *
     * @param index position in the pipeline, skipped passes included; 0 before the first pass
     * @param pass the pass that made it; {@code import} before the first
     * @param function the function
     */
    public record Stage(int index, String pass, Function function) {}

    /** Removes bindings that change no variable and on which no result depends. */
    public static final class EliminateDeadBindings implements Pass {
        @Override
        public String name() {
            return "eliminate-dead-bindings";
        }

        @Override
        public Function run(Function function) {
            Set<Integer> live = new HashSet<>();
            function.results().stream().map(Result::id).forEach(live::add);
            List<Binding> kept = new ArrayList<>();
            for (int i = function.bindings().size() - 1; i >= 0; i--) {
                Binding binding = function.bindings().get(i);
                if (live.contains(binding.id()) || !binding.op().writes().isEmpty()) {
                    kept.add(binding);
                    live.addAll(binding.reads());
                }
            }
            Collections.reverse(kept);
            return function.withBindings(kept);
        }
    }

    /** Computes at build time, with the reference interpreter, every binding whose arguments are all constant. */
    public static final class FoldConstants implements Pass {
        @Override
        public String name() {
            return "fold-constants";
        }

        @Override
        public Function run(Function function) {
            return run(function, new ConstantFolder(function.constantBytes()));
        }

        @Override
        public Function run(Function function, ConstantFolder folder) {
            Set<Integer> results = new HashSet<>();
            function.results().stream().map(Result::id).forEach(results::add);
            GraphBuilder graph = new GraphBuilder(function, folder);
            for (Binding binding : function.bindings()) {
                Optional<Constant> value = results.contains(binding.id()) ? Optional.empty() : graph.folded(binding);
                value.ifPresentOrElse(constant -> graph.replace(binding.id(), constant), () -> graph.keep(binding));
            }
            return function.withBindings(graph.bindings());
        }
    }

    /** Lets a reshape of a reshape read the first one's argument; unread reshapes are removed later. */
    private static final class SimplifyReshapes implements Pass {
        @Override
        public String name() {
            return "simplify-reshapes";
        }

        @Override
        public Function run(Function function) {
            Map<Integer, Arg> sources = new HashMap<>();
            List<Binding> bindings = new ArrayList<>();
            for (Binding binding : function.bindings()) {
                Binding simple = binding.op().has(Trait.VIEW) ? binding.reading(sources) : binding;
                bindings.add(simple);
                if (binding.op().has(Trait.VIEW)) {
                    sources.put(binding.id(), simple.args().get(0));
                }
            }
            return function.withBindings(bindings);
        }
    }
}
