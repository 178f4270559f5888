// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Kernels of the operators that change variables; each family lists its own. */
final class WritingKernels {
    /**
     * What an operator leaves.
     *
     * @param result what it computes
     * @param written new values of the variables, in the order of {@link Op#writes}
     */
    record Outcome(Tensor result, List<Tensor> written) {
        Outcome {
            written = List.copyOf(written);
        }

        /** Of an operator that only changes variables. */
        static Outcome of(Tensor... written) {
            return new Outcome(Tensor.of(TensorType.UNIT, new int[0]), List.of(written));
        }
    }

    /** Computes a result of a known type, and what becomes of the variables among the arguments. */
    interface Kernel<O extends Op> {
        Outcome run(O op, List<Tensor> args, TensorType type);
    }

    private static final Map<Class<? extends Op>, Kernel<Op>> BY_OPERATOR = Stream.of(
                    StatefulKernels.ALL, SignalStateKernels.ALL)
            .flatMap(family -> family.entrySet().stream())
            .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));

    private WritingKernels() {}

    static Outcome evaluate(Op op, List<Tensor> args, TensorType type) {
        Kernel<Op> kernel = BY_OPERATOR.get(op.getClass());
        if (kernel == null) {
            throw new IllegalArgumentException("the interpreter does not know " + op.name());
        }
        return kernel.run(op, args, type);
    }

    static <O extends Op> Map.Entry<Class<? extends Op>, Kernel<Op>> entry(Class<O> op, Kernel<O> kernel) {
        return Map.entry(op, (any, args, type) -> kernel.run(op.cast(any), args, type));
    }
}
