// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds the kernel of an operator; each family lists its own. */
final class Kernels {
    /** Computes an operator's result of a known type from its arguments. */
    interface Kernel<O extends Op> {
        Tensor run(O op, List<Tensor> args, TensorType type);
    }

    private static final Map<Class<? extends Op>, Kernel<Op>> BY_OPERATOR = Stream.of(
                    LayerKernels.ALL,
                    MovementKernels.ALL,
                    ElementwiseKernels.ALL,
                    ReductionKernels.ALL,
                    SequenceKernels.ALL,
                    DetectionKernels.ALL,
                    SignalKernels.ALL,
                    FilterBanks.ALL)
            .flatMap(family -> family.entrySet().stream())
            .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));

    private Kernels() {}

    static Tensor evaluate(Op op, List<Tensor> args, TensorType type) {
        if (op.isOpaque()) {
            throw new KilnException(new Problem(
                    "what " + op.name() + " computes is known to its C function alone",
                    "",
                    "operators that can be computed at build time",
                    "Change the model so that nothing is computed from it at build time"));
        }
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
