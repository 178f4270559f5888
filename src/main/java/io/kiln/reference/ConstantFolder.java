// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.ir.Constant;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Locale;

/**
 * Computes constants while a model is compiled, within limits on work and bytes that do not depend on the computer. One folder counts everything
 * that is computed of a model while it is read, another one everything in the passes.
 */
public final class ConstantFolder implements GraphBuilder.Folder {
    /** Steps of {@link FoldedWork}: at most 4 ns each, hence three seconds; eight passes over 100 MB of weights. */
    static final long USUAL_STEPS = 3L << 28;

    /** All results together. */
    static final long USUAL_BYTES = 512L << 20;

    /** One result while it is computed, when each element takes four or eight bytes. */
    private static final long USUAL_TENSOR_BYTES = 1L << 28;

    private static final int STEPS_PER_BYTE = 64;
    private static final int BYTES_PER_BYTE = 4;

    private final long mostSteps;
    private final long mostBytes;
    private final long mostTensorBytes;
    private long steps;
    private long bytes;

    /** @param modelBytes bytes of the model's own constants, or of its file: a large model may compute more */
    public ConstantFolder(long modelBytes) {
        mostSteps = Math.max(USUAL_STEPS, STEPS_PER_BYTE * modelBytes);
        mostBytes = Math.max(USUAL_BYTES, BYTES_PER_BYTE * modelBytes);
        mostTensorBytes = Math.max(USUAL_TENSOR_BYTES, Integer.BYTES * modelBytes);
    }

    @Override
    public Constant fold(Op op, List<Constant> args, TensorType type, String where) {
        spend(op, args.stream().map(Constant::type).toList(), type, where);
        return Interpreter.fold(op, args, type);
    }

    /**
     * Counts an operator before it is computed.
     *
     * @param args types of its arguments
     * @param type type of its result
     * @param where the operator, for the message
     * @throws KilnException if the model has too much to compute
     */
    void spend(Op op, List<TensorType> args, TensorType type, String where) {
        int width = type.dtype().isLong() ? Long.BYTES : Integer.BYTES;
        if (type.shape().elements() > mostTensorBytes / width) {
            throw failure(
                    "computing the constant " + type.text() + " takes more than %,d bytes", mostTensorBytes, where);
        }
        bytes += type.bytes();
        if (bytes > mostBytes) {
            throw failure("the model's computed constants have more than %,d bytes", mostBytes, where);
        }
        long more = FoldedWork.of(op, args, type);
        if (more > mostSteps - steps) {
            throw failure("computing the model's constants takes more than %,d steps", mostSteps, where);
        }
        steps += more;
    }

    private static KilnException failure(String what, long limit, String where) {
        return new KilnException(Failure.MODEL.problem(
                String.format(Locale.ROOT, what, limit),
                where,
                "a model for a microcontroller",
                "Export the model with its constants folded"));
    }
}
