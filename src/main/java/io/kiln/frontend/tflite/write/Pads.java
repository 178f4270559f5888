// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.plan.Format;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** Padding as operators. */
final class Pads {
    private Pads() {}

    /** The data with zeros around it for a window. */
    static int around(Emission node, Window window) {
        int padded = padded(node, window);
        node.graph()
                .operator(
                        BuiltinOperator.PAD,
                        node.version(1, 2, 3),
                        List.of(node.data(0), widths(node, window)),
                        padded,
                        Options.NONE);
        return padded;
    }

    /** The data with the smallest value around it for a window. */
    static int lowest(Emission node, Window window) {
        int padded = padded(node, window);
        Format format = node.planned().data().get(0);
        DType dtype = format.dtype();
        ByteBuffer buffer = ByteBuffer.allocate(dtype.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        switch (dtype) {
            case INT8 -> buffer.put(Byte.MIN_VALUE);
            case INT16 -> buffer.putShort(Short.MIN_VALUE);
            default -> buffer.putFloat(-Float.MAX_VALUE);
        }
        Constant value =
                new Constant(node.name() + "/lowest", new TensorType(Shape.of(1), dtype), Bytes.wrap(buffer.array()));
        int border = format.quantization()
                .map(q -> node.graph().constant(value, TfliteTensorEntry.Scaling.of(q)))
                .orElseGet(() -> node.graph().constant(value));
        node.graph()
                .operator(
                        BuiltinOperator.PADV2,
                        node.version(1, 2, 3),
                        List.of(node.data(0), widths(node, window), border),
                        padded,
                        Options.NONE);
        return padded;
    }

    private static int padded(Emission node, Window window) {
        Shape data = node.dataShape(0);
        Shape shape = Shape.of(
                data.dim(0),
                data.dim(1) + window.padTop() + window.padBottom(),
                data.dim(2) + window.padLeft() + window.padRight(),
                data.dim(3));
        Format format = node.planned().data().get(0);
        return node.graph().tensor(node.name() + "_padded", new TensorType(shape, format.dtype()), format);
    }

    private static int widths(Emission node, Window w) {
        return node.graph()
                .matrix(
                        node.name() + "/paddings",
                        Shape.of(4, 2),
                        0,
                        0,
                        w.padTop(),
                        w.padBottom(),
                        w.padLeft(),
                        w.padRight(),
                        0,
                        0);
    }
}
