// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.call.CallKernels;
import io.kiln.reference.element.ElementwiseKernels;
import io.kiln.reference.kernel.FunctionCalls;
import io.kiln.reference.kernel.OperatorKernel;
import io.kiln.reference.kernel.Outcome;
import io.kiln.reference.kernel.Tensor;
import io.kiln.reference.layer.DetectionKernels;
import io.kiln.reference.layer.LayerKernels;
import io.kiln.reference.layer.StatefulKernels;
import io.kiln.reference.movement.MovementKernels;
import io.kiln.reference.reduce.ReductionKernels;
import io.kiln.reference.signal.SignalKernels;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds the kernel of an operator; each family has its own table. */
final class Kernels {
    private static final Map<Class<? extends Op>, OperatorKernel<Op>> BY_OPERATOR = Stream.of(
                    LayerKernels.ALL,
                    MovementKernels.ALL,
                    ElementwiseKernels.ALL,
                    ReductionKernels.ALL,
                    StatefulKernels.ALL,
                    CallKernels.ALL,
                    DetectionKernels.ALL,
                    SignalKernels.ALL)
            .flatMap(family -> family.entrySet().stream())
            .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));

    private Kernels() {}

    /** The operators that have a kernel. */
    static Set<Class<? extends Op>> operators() {
        return BY_OPERATOR.keySet();
    }

    static Outcome run(Op op, List<Tensor> args, TensorType type, FunctionCalls functions) {
        OperatorKernel<Op> kernel = BY_OPERATOR.get(op.getClass());
        if (kernel == null) {
            throw new IllegalStateException("the interpreter has no kernel for " + op.name());
        }
        return kernel.run(op, args, type, functions);
    }
}
