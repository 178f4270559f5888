// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import com.google.flatbuffers.FlatBufferBuilder;
import java.util.Arrays;
import java.util.function.ToIntFunction;
import org.tensorflow.lite.schema.AddOptions;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.Conv2DOptions;
import org.tensorflow.lite.schema.DepthwiseConv2DOptions;
import org.tensorflow.lite.schema.FullyConnectedOptions;
import org.tensorflow.lite.schema.Pool2DOptions;
import org.tensorflow.lite.schema.ReshapeOptions;
import org.tensorflow.lite.schema.SoftmaxOptions;
import org.tensorflow.lite.schema.TransposeConvOptions;

/**
 * Builtin options of an operator to be written.
 *
 * @param isLater whether they are of the schema's second union
 */
public record Options(byte type, ToIntFunction<FlatBufferBuilder> writer, boolean isLater) {
    public Options(byte type, ToIntFunction<FlatBufferBuilder> writer) {
        this(type, writer, false);
    }

    /** The same in the schema's union {@code BuiltinOptions2}. */
    public Options later() {
        return new Options(type, writer, true);
    }

    public static final byte SAME = 0;
    public static final byte VALID = 1;
    public static final byte NO_ACTIVATION = 0;
    public static final byte RELU = 1;

    public static Options none() {
        return new Options(BuiltinOptions.NONE, b -> 0);
    }

    public static Options conv2d(
            byte padding, int strideH, int strideW, byte activation, int dilationH, int dilationW) {
        return new Options(
                BuiltinOptions.Conv2DOptions,
                b -> Conv2DOptions.createConv2DOptions(b, padding, strideW, strideH, activation, dilationW, dilationH));
    }

    public static Options depthwise(
            byte padding, int strideH, int strideW, int multiplier, byte activation, int dilationH, int dilationW) {
        return new Options(
                BuiltinOptions.DepthwiseConv2DOptions,
                b -> DepthwiseConv2DOptions.createDepthwiseConv2DOptions(
                        b, padding, strideW, strideH, multiplier, activation, dilationW, dilationH));
    }

    public static Options transposeConv(byte padding, int strideH, int strideW) {
        return new Options(
                BuiltinOptions.TransposeConvOptions,
                b -> TransposeConvOptions.createTransposeConvOptions(b, padding, strideW, strideH, NO_ACTIVATION));
    }

    public static Options pool(byte padding, int strideH, int strideW, int height, int width, byte activation) {
        return new Options(
                BuiltinOptions.Pool2DOptions,
                b -> Pool2DOptions.createPool2DOptions(b, padding, strideW, strideH, width, height, activation));
    }

    public static Options fullyConnected(byte activation, boolean keepNumDims) {
        return fullyConnected(activation, keepNumDims, false);
    }

    /** With float data that is quantized at run time, symmetrically or not. */
    public static Options fullyConnected(byte activation, boolean keepNumDims, boolean isAsymmetric) {
        return new Options(
                BuiltinOptions.FullyConnectedOptions,
                b -> FullyConnectedOptions.createFullyConnectedOptions(
                        b, activation, (byte) 0, keepNumDims, isAsymmetric));
    }

    public static Options softmax(float beta) {
        return new Options(BuiltinOptions.SoftmaxOptions, b -> SoftmaxOptions.createSoftmaxOptions(b, beta));
    }

    public static Options add(byte activation) {
        return new Options(BuiltinOptions.AddOptions, b -> AddOptions.createAddOptions(b, activation, false));
    }

    public static Options reshape(int... shape) {
        return new Options(
                BuiltinOptions.ReshapeOptions,
                b -> ReshapeOptions.createReshapeOptions(b, ReshapeOptions.createNewShapeVector(b, shape)));
    }

    /**
     * Any options table, field by field; all are written, defaults too.
     *
     * @param type the table's number in the schema's union {@code BuiltinOptions}
     * @param fields what stands in it, by the fields' numbers in the schema
     */
    public static Options table(byte type, Field... fields) {
        return new Options(type, b -> {
            int[] vectors =
                    Arrays.stream(fields).mapToInt(f -> f.before.applyAsInt(b)).toArray();
            b.forceDefaults(true);
            b.startTable(Arrays.stream(fields).mapToInt(f -> f.id + 1).max().orElse(0));
            for (int i = 0; i < fields.length; i++) {
                fields[i].adder.add(b, fields[i].id, vectors[i]);
            }
            int table = b.endTable();
            b.forceDefaults(false);
            return table;
        });
    }

    /** Adds a field to a table that has been started; a vector was written before. */
    private interface Adder {
        void add(FlatBufferBuilder b, int id, int vector);
    }

    /** A field of an options table: its number in the schema and its value. */
    public static final class Field {
        private final int id;
        private final ToIntFunction<FlatBufferBuilder> before;
        private final Adder adder;

        private Field(int id, ToIntFunction<FlatBufferBuilder> before, Adder adder) {
            this.id = id;
            this.before = before;
            this.adder = adder;
        }

        /** Enums are of this type too. */
        public static Field int8(int id, int value) {
            return scalar(id, (b, i, v) -> b.addByte(i, (byte) value, 0));
        }

        public static Field bool(int id, boolean value) {
            return scalar(id, (b, i, v) -> b.addBoolean(i, value, false));
        }

        public static Field int32(int id, int value) {
            return scalar(id, (b, i, v) -> b.addInt(i, value, 0));
        }

        public static Field int64(int id, long value) {
            return scalar(id, (b, i, v) -> b.addLong(i, value, 0));
        }

        public static Field float32(int id, float value) {
            return scalar(id, (b, i, v) -> b.addFloat(i, value, 0));
        }

        public static Field longs(int id, long... values) {
            return vector(id, b -> {
                b.startVector(Long.BYTES, values.length, Long.BYTES);
                for (int i = values.length - 1; i >= 0; i--) {
                    b.addLong(values[i]);
                }
                return b.endVector();
            });
        }

        public static Field floats(int id, float... values) {
            return vector(id, b -> {
                b.startVector(Float.BYTES, values.length, Float.BYTES);
                for (int i = values.length - 1; i >= 0; i--) {
                    b.addFloat(values[i]);
                }
                return b.endVector();
            });
        }

        public static Field ints(int id, int... values) {
            return vector(id, b -> ReshapeOptions.createNewShapeVector(b, values));
        }

        public static Field text(int id, String value) {
            return vector(id, b -> b.createString(value));
        }

        private static Field scalar(int id, Adder adder) {
            return new Field(id, b -> 0, adder);
        }

        private static Field vector(int id, ToIntFunction<FlatBufferBuilder> writer) {
            return new Field(id, writer, (b, i, v) -> b.addOffset(i, v, 0));
        }
    }
}
