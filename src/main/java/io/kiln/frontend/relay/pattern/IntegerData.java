// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.pattern;

import io.kiln.base.DType;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Value;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The data of a layer that sums integers. TVM widens int8 and subtracts its zero point before the layer; Kiln's layer
 * does so itself.
 *
 * @param value int8 or int16
 * @param zeroPoint the number subtracted from it
 */
public record IntegerData(Value value, int zeroPoint) {
    /** Largest magnitude that int8 and uint8 values less a zero point are known to have. */
    private static final int MOST_CENTRED = 1 << 10;

    /** Data of any integer type that is known to fit into int16. */
    public static IntegerData of(CallSite call, Value given) {
        Value data = given.widened()
                ? given.asWidened(false, new TensorType(given.type().shape(), DType.INT8))
                : given;
        Optional<Binding> producer = call.producer(data.arg());
        Optional<Constant> subtracted = producer.filter(b -> b.op().equals(new Binary(Binary.Kind.SUBTRACT))
                        && b.args().get(1) instanceof Constant)
                .map(b -> b.constant(1))
                .filter(c ->
                        c.elements() == 1 && c.type().dtype().isInteger() && Math.abs(c.integer(0)) < MOST_CENTRED);
        Optional<Binding> cast = (subtracted.isPresent()
                        ? call.producer(producer.orElseThrow().args().get(0))
                        : producer)
                .filter(b -> b.op().equals(new Cast(DType.INT16)) || b.op().equals(new Cast(DType.INT32)));
        DType from = cast.map(b -> call.type(b.args().get(0)).dtype()).orElse(DType.INT64);
        long zeroPoint = subtracted.map(c -> c.integer(0)).orElse(0L);
        if (from == DType.INT8 && zeroPoint >= Byte.MIN_VALUE && zeroPoint <= Byte.MAX_VALUE) {
            call.supersede(data.arg());
            subtracted.ifPresent(
                    c -> call.supersede(producer.orElseThrow().args().get(0)));
            TensorType type = new TensorType(data.type().shape(), DType.INT8);
            return new IntegerData(data.with(cast.orElseThrow().args().get(0), type), (int) zeroPoint);
        }
        DType own = data.type().dtype();
        if (own == DType.INT8 || own == DType.INT16) {
            return new IntegerData(data, 0);
        }
        if (own == DType.UINT8 || (own == DType.INT32 && from.bytes() == 1)) {
            Arg narrow = call.emit(new Cast(DType.INT16), List.of(data.arg()));
            return new IntegerData(data.with(narrow, new TensorType(data.type().shape(), DType.INT16)), 0);
        }
        throw new IllegalArgumentException(
                "the data, " + own.text() + ", is not supported: expected int8, uint8 or int16, or a cast of these");
    }

    /** Arguments of a quantized layer without scales. */
    public static List<Arg> arguments(List<Arg> dataAndWeight, int zeroPoint, int kernelZeroPoint) {
        List<Arg> args = new ArrayList<>(dataAndWeight);
        args.add(Constant.scalar(zeroPoint));
        args.add(Constant.scalar(kernelZeroPoint));
        args.add(Constant.scalar(1f));
        args.add(Constant.scalar(1f));
        return args;
    }
}
