// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.ir.op.Op;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Lowers a fused operator, selected by its root. Each family of operators has one map of its lowerings, by class. */
public interface OperatorLowering<O extends Op> {
    /**
     * Further inputs of a lowering.
     *
     * @param sums the core's micro-kernels for stateful layers; empty where loops are as fast
     * @param panels the core's micro-kernel for products of computed int8 matrices, if it has one
     * @param matrices the core's micro-kernels for products of other matrices
     * @param callees the functions called by operators, by index
     * @param elements what loops over elements may be like
     */
    record Context(
            Optional<SumKernels> sums,
            Optional<PanelSums> panels,
            MatrixKernel.Set matrices,
            List<Callee> callees,
            ElementStyle elements) {
        public Context {
            callees = List.copyOf(callees);
        }
    }

    /** A lowering that needs only the operator. */
    interface Simple {
        LoweredOperator lower(FusedOperator op, Rows rows);
    }

    /**
     * Lowers to loops over a range of rows of the output.
     *
     * @param root the operator at the root
     */
    LoweredOperator lower(FusedOperator op, O root, Rows rows, Context context);

    /** The entry of an operator in its family's map, for a lowering that needs only the operator. */
    static Map.Entry<Class<? extends Op>, OperatorLowering<Op>> simple(Class<? extends Op> root, Simple lowering) {
        return Map.entry(root, (op, any, rows, context) -> lowering.lower(op, rows));
    }

    /** The entry of an operator in its family's map. */
    static <O extends Op> Map.Entry<Class<? extends Op>, OperatorLowering<Op>> entry(
            Class<O> root, OperatorLowering<O> lowering) {
        return Map.entry(root, (op, any, rows, context) -> lowering.lower(op, root.cast(any), rows, context));
    }
}
