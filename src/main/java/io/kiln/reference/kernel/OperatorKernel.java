// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.kernel;

import io.kiln.base.Failure;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/** The interpreter's implementation of an operator. Each family of operators has one map of its kernels, by class. */
public interface OperatorKernel<O extends Op> {
    /** Computes a result of a known type, and new values of the variables among the arguments. */
    Outcome run(O op, List<Tensor> args, TensorType type, FunctionCalls functions);

    /** A kernel of an operator that only computes a result. */
    interface Pure<O extends Op> {
        Tensor run(O op, List<Tensor> args, TensorType type);
    }

    /** A kernel of an operator that changes variables. */
    interface Writing<O extends Op> {
        Outcome run(O op, List<Tensor> args, TensorType type);
    }

    /** An entry for an operator that only computes a result. */
    static <O extends Op> Map.Entry<Class<? extends Op>, OperatorKernel<Op>> pure(Class<O> op, Pure<O> kernel) {
        return calling(op, (o, args, type, functions) -> new Outcome(kernel.run(o, args, type), List.of()));
    }

    /** An entry for an operator that changes variables. */
    static <O extends Op> Map.Entry<Class<? extends Op>, OperatorKernel<Op>> writing(Class<O> op, Writing<O> kernel) {
        return calling(op, (o, args, type, functions) -> kernel.run(o, args, type));
    }

    /** An entry for an operator that calls functions. */
    static <O extends Op> Map.Entry<Class<? extends Op>, OperatorKernel<Op>> calling(
            Class<O> op, OperatorKernel<O> kernel) {
        return Map.entry(op, (any, args, type, functions) -> kernel.run(op.cast(any), args, type, functions));
    }

    /** An entry for an operator that only the user's C or an NPU can compute. */
    static Map.Entry<Class<? extends Op>, OperatorKernel<Op>> opaque(Class<? extends Op> op) {
        return Map.entry(op, (any, args, type, functions) -> {
            throw Failure.MODEL.exception(
                    "only C or an NPU knows the result of " + any.name(),
                    "",
                    "operators that can be computed at build time",
                    "Change the model so that its result is not needed at build time");
        });
    }

    /** Runs the functions that operators call, by index in the caller. */
    public interface FunctionCalls {
        /**
         * The results of a function.
         *
         * @param variables values of its variables; updated by the call
         */
        List<Tensor> call(int function, List<Tensor> inputs, List<Tensor> variables);

        /**
         * Called before a loop body runs.
         *
         * @throws io.kiln.base.KilnException if loops have run too often
         */
        void spendIteration(int body);
    }

    /**
     * The effects of an operator.
     *
     * @param result its result
     * @param written new values of the variables, in the order of {@link Op#writes}
     */
    public record Outcome(Tensor result, List<Tensor> written) {
        public Outcome {
            written = List.copyOf(written);
        }

        /** The outcome of an operator that only changes variables. */
        public static Outcome of(List<Tensor> written) {
            return new Outcome(Tensor.of(TensorType.UNIT, new int[0]), written);
        }
    }
}
