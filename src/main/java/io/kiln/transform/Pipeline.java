// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import io.kiln.ir.legality.Legality;
import io.kiln.reference.ConstantFolder;
import java.util.ArrayList;
import java.util.List;
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
}
