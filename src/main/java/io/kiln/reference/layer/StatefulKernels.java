// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import static io.kiln.reference.kernel.OperatorKernel.writing;

import io.kiln.base.Bytes;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.CircularBuffer;
import io.kiln.ir.op.call.RefWrite;
import io.kiln.ir.op.call.RingWrite;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.type.Shape;
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
            writing(RingWrite.class, StatefulKernels::ringWrite),
            writing(CircularBuffer.class, StatefulKernels::circularBuffer),
            writing(Svdf.class, SvdfKernel::run),
            writing(Lstm.class, LstmKernel::run));

    private StatefulKernels() {}

    private static Outcome ringWrite(RingWrite op, List<Tensor> args, TensorType type) {
        Tensor slots = args.get(RingWrite.SLOTS);
        byte[] from = args.get(0).toBytes().toArray();
        byte[] to = slots.toBytes().toArray();
        int count = slots.shape().dim(op.axis());
        int added = args.get(0).shape().dim(op.axis());
        int outer = (int) new Shape(slots.shape().dims().subList(0, op.axis())).elements();
        int slot = to.length / outer / count;
        int oldest = Math.max(0, Math.min(args.get(RingWrite.PLACE).scalarInt(), count - added));
        for (int i = 0; i < outer; i++) {
            System.arraycopy(from, i * added * slot, to, (i * count + oldest) * slot, added * slot);
        }
        int next = oldest + added;
        return Outcome.of(List.of(
                Tensor.read(slots.type(), Bytes.wrap(to)),
                Tensor.of(args.get(RingWrite.PLACE).type(), new int[] {next >= count ? 0 : next})));
    }

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
