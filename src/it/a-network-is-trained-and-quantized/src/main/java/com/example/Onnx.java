// SPDX-License-Identifier: Apache-2.0
package com.example;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** A message of ONNX's file format, which is that of Protocol Buffers: fields by the numbers of onnx.proto3. */
final class Onnx {
    private static final int FLOAT = 1;
    private static final int INT_ATTRIBUTE = 2;
    private static final int INTS_ATTRIBUTE = 7;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    /** The file of a network. */
    static byte[] model(Network network) {
        Onnx graph = new Onnx()
                .message(1, conv("image", "conv1"))
                .message(1, node("Relu", "relu1", "conv1"))
                .message(1, conv("relu1", "conv2"))
                .message(1, node("Relu", "relu2", "conv2"))
                .message(1, node("Flatten", "flat", "relu2"))
                .message(1, node("Gemm", "dense", "flat", "dense.weight", "dense.bias")
                        .message(5, ints("transB", INT_ATTRIBUTE, 1)))
                .message(1, node("Softmax", "probabilities", "dense"))
                .text(2, "digits")
                .layer("conv1", network.first)
                .layer("conv2", network.second)
                .message(5, tensor("dense.weight", network.last.weights, network.last.units, network.last.inputs))
                .message(5, tensor("dense.bias", network.last.bias, network.last.units))
                .message(11, value("image", 1, 1, Digits.SIZE, Digits.SIZE))
                .message(12, value("probabilities", 1, Digits.CLASSES));
        return new Onnx()
                .number(1, 8) // ir_version
                .message(7, graph)
                .message(8, new Onnx().number(2, 13)) // opset_import
                .out
                .toByteArray();
    }

    private static Onnx conv(String data, String name) {
        return node("Conv", name, data, name + ".weight", name + ".bias")
                .message(5, ints("kernel_shape", INTS_ATTRIBUTE, Conv.KERNEL, Conv.KERNEL))
                .message(5, ints("strides", INTS_ATTRIBUTE, 2, 2))
                .message(5, ints("pads", INTS_ATTRIBUTE, 1, 1, 1, 1));
    }

    private Onnx layer(String name, Conv conv) {
        return message(
                        5,
                        tensor(name + ".weight", conv.weights, conv.outputs, conv.inputs, Conv.KERNEL, Conv.KERNEL))
                .message(5, tensor(name + ".bias", conv.bias, conv.outputs));
    }

    private static Onnx node(String type, String output, String... inputs) {
        Onnx node = new Onnx();
        for (String input : inputs) {
            node.text(1, input);
        }
        return node.text(2, output).text(3, output).text(4, type);
    }

    private static Onnx ints(String name, int type, int... values) {
        Onnx attribute = new Onnx().text(1, name);
        for (int value : values) {
            attribute.number(type == INT_ATTRIBUTE ? 3 : 8, value);
        }
        return attribute.number(20, type);
    }

    private static Onnx tensor(String name, Weights weights, int... dims) {
        ByteBuffer data =
                ByteBuffer.allocate(Float.BYTES * weights.values.length).order(ByteOrder.LITTLE_ENDIAN);
        data.asFloatBuffer().put(weights.values);
        Onnx tensor = new Onnx();
        for (int dim : dims) {
            tensor.number(1, dim);
        }
        return tensor.number(2, FLOAT).text(8, name).bytes(9, data.array());
    }

    private static Onnx value(String name, int... dims) {
        Onnx shape = new Onnx();
        for (int dim : dims) {
            shape.message(1, new Onnx().number(1, dim));
        }
        Onnx type = new Onnx().number(1, FLOAT).message(2, shape);
        return new Onnx().text(1, name).message(2, new Onnx().message(1, type));
    }

    private Onnx number(int field, long value) {
        varint((long) field << 3);
        varint(value);
        return this;
    }

    private Onnx text(int field, String value) {
        return bytes(field, value.getBytes(StandardCharsets.UTF_8));
    }

    private Onnx message(int field, Onnx message) {
        return bytes(field, message.out.toByteArray());
    }

    private Onnx bytes(int field, byte[] value) {
        varint((long) field << 3 | 2);
        varint(value.length);
        out.writeBytes(value);
        return this;
    }

    /** Seven bits a byte, the lowest first; all bytes but the last have their highest bit set. */
    private void varint(long value) {
        long rest = value;
        while (rest > 0x7F) {
            out.write((int) (rest & 0x7F | 0x80));
            rest >>>= 7;
        }
        out.write((int) rest);
    }
}
