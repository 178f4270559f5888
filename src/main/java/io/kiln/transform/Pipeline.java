// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import java.util.List;

/** Runs passes in order and verifies the function after each. */
public record Pipeline(List<Pass> passes) {
    public Pipeline {
        passes = List.copyOf(passes);
    }

    /** What every model goes through. */
    public static Pipeline standard() {
        return new Pipeline(List.of(
                new FoldConstants(),
                new SimplifyReshapes(),
                new EliminateDeadBindings(),
                new RemoveConstantChannels(),
                new FuseOperators()));
    }

    public Function run(Function function) {
        Verifier.verify(function);
        Function current = function;
        for (Pass pass : passes) {
            current = pass.run(current);
            Verifier.verify(current);
        }
        return current;
    }
}
