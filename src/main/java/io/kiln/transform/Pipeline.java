// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import io.kiln.ir.legality.Legality;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Runs passes in order and verifies the function before the first and after each, also that it is what Kiln compiles.
 *
 * @param passes all passes
 * @param disabled names of those that are left out
 */
public record Pipeline(List<Pass> passes, Set<String> disabled) {
    private static final String IMPORT = "import";

    public Pipeline {
        passes = List.copyOf(passes);
        disabled = Set.copyOf(disabled);
    }

    /** What every model goes through. */
    public static Pipeline standard() {
        return of(PassOptions.DEFAULT);
    }

    /** What a model goes through if the user changes something. */
    public static Pipeline of(PassOptions options) {
        return new Pipeline(
                List.of(
                        new FoldConstants(),
                        new SimplifyReshapes(),
                        new FoldPadding(),
                        new EliminateDeadBindings(),
                        new RemoveConstantChannels(),
                        new FuseOperators(options.maxFusionDepth())),
                options.disabled());
    }

    /** What the last pass leaves, of the function and of those that it calls. */
    public Function run(Function function) {
        List<Stage> stages = stages(function);
        return stages.get(stages.size() - 1).function();
    }

    private static Function run(Pass pass, Function function) {
        List<Function> called =
                function.functions().stream().map(f -> run(pass, f)).toList();
        return pass.run(function.withFunctions(called));
    }

    /** The function as it comes, then after each pass that runs. */
    public List<Stage> stages(Function function) {
        verify(function);
        List<Stage> stages = new ArrayList<>();
        stages.add(new Stage(0, IMPORT, function));
        Function current = function;
        for (int i = 0; i < passes.size(); i++) {
            Pass pass = passes.get(i);
            if (!disabled.contains(pass.name())) {
                current = run(pass, current);
                verify(current);
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
