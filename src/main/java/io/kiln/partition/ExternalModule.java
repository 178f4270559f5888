// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Rows;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** The external functions of one partitioned function. */
public final class ExternalModule {
    private final Externals externals;
    private final Map<Integer, ExternalFunction> functions;

    ExternalModule(Externals externals, Map<Integer, ExternalFunction> functions) {
        this.externals = externals;
        this.functions = Map.copyOf(functions);
    }

    /**
     * The external functions of a partitioned function.
     *
     * @param prefix of its C names, such as {@code tvmgen_default}
     */
    public static ExternalModule of(Externals externals, Function function, String prefix) {
        return new ExternalModule(externals, ExternalFunction.all(function, prefix, externals::device));
    }

    /** Whether an operator is the call of an external function. */
    public boolean takes(FusedOperator op) {
        return functions.containsKey(op.output());
    }

    /** Key of the target that computes an operator that {@link #takes} is true for. */
    public String targetKey(FusedOperator op) {
        return externals.targetKey(functions.get(op.output()));
    }

    /** Lowers an operator that {@link #takes} is true for. */
    public LoweredOperator lower(FusedOperator op, Rows rows) {
        ExternalFunction function = functions.get(op.output());
        return ExternalLowering.lower(op, function, externals.call(function), rows)
                .executing(function.body().chain().stream()
                        .mapToLong(Binding::macs)
                        .sum());
    }

    /** The functions, in the order of their calls. */
    public List<ExternalFunction> functions() {
        return functions.values().stream()
                .sorted(Comparator.comparingInt(
                                (ExternalFunction f) -> f.symbol().length())
                        .thenComparing(ExternalFunction::symbol))
                .toList();
    }
}
