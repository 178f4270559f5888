// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import static io.kiln.reference.kernel.OperatorKernel.writing;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.CircularBuffer;
import io.kiln.ir.op.call.RefWrite;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.OperatorKernel;
import io.kiln.reference.kernel.Outcome;
import io.kiln.reference.kernel.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Variables, and layers with state. */
public final class StatefulKernels {
    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            writing(RefWrite.class, (op, args, type) -> Outcome.of(List.of(args.get(1)))),
            writing(CircularBuffer.class, StatefulKernels::circularBuffer),
            writing(Svdf.class, SvdfKernel::run),
            writing(Lstm.class, LstmKernel::run));

    private StatefulKernels() {}

    private static Outcome circularBuffer(CircularBuffer op, List<Tensor> args, TensorType type) {
        int[] data = args.get(0).ints();
        int[] old = args.get(CircularBuffer.SLOTS).ints();
        int[] slots = Arrays.copyOfRange(old, data.length, old.length + data.length);
        System.arraycopy(data, 0, slots, old.length - data.length, data.length);
        int left = args.get(CircularBuffer.LEFT).scalarInt() - 1;
        boolean isOver = left <= 0;
        return new Outcome(
                Tensor.of(type, new int[] {isOver ? 1 : 0}),
                List.of(
                        Tensor.of(args.get(CircularBuffer.SLOTS).type(), slots),
                        Tensor.of(args.get(CircularBuffer.LEFT).type(), new int[] {isOver ? op.cycles() : left})));
    }
}
