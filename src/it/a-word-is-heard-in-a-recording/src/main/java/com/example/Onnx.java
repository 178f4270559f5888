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

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    /** The file of a network. */
    static byte[] model(Network network) {
        Onnx graph = new Onnx()
                .message(1, gemm("features", "hidden"))
                .message(1, node("Relu", "relu", "hidden"))
                .message(1, gemm("relu", "word"))
                .message(1, node("Softmax", "probabilities", "word"))
                .text(2, "words")
                .layer("hidden", network.first)
                .layer("word", network.last)
                .message(11, value("features", 1, network.first.inputs))
                .message(12, value("probabilities", 1, network.last.units));
        return new Onnx()
                .number(1, 8) // ir_version
                .message(7, graph)
                .message(8, new Onnx().number(2, 13)) // opset_import
                .out
                .toByteArray();
    }

    private static Onnx gemm(String data, String name) {
        return node("Gemm", name, data, name + ".weight", name + ".bias").message(5, flag("transB"));
    }

    private Onnx layer(String name, Dense dense) {
        return message(5, tensor(name + ".weight", dense.weights, dense.units, dense.inputs))
                .message(5, tensor(name + ".bias", dense.bias, dense.units));
    }

    private static Onnx node(String type, String output, String... inputs) {
        Onnx node = new Onnx();
        for (String input : inputs) {
            node.text(1, input);
        }
        return node.text(2, output).text(3, output).text(4, type);
    }

    private static Onnx flag(String name) {
        return new Onnx().text(1, name).number(3, 1).number(20, INT_ATTRIBUTE);
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
