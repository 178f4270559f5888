// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reader;

import ai.onnx.proto.OnnxMl.StringStringEntryProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.frontend.ExternalData;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.model.OnnxTensor;
import io.kiln.frontend.onnx.reader.ModelReader.ReadBudget;
import io.kiln.ir.arith.HalfRounding;
import io.kiln.ir.type.Shape;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads tensors: elements in {@code raw_data}, in the typed fields, or in another file; all little-endian, floats of 16 bits and less as float32. */
record OnnxTensorReader(ExternalData external, ReadBudget budget) {
    private static final int BRAIN_BIAS = 127;
    private static final List<Float> FOUR_BITS = List.of(0f, 0.5f, 1f, 1.5f, 2f, 3f, 4f, 6f);

    private static final int MAX_RANK = 8;
    private static final String NEXT = "Export the model again";

    /**
     * A tensor.
     *
     * @param where its place, for messages
     */
    OnnxTensor read(TensorProto tensor, String where) {
        ElementType type = ElementType.ofCode(tensor.getDataType()).orElse(ElementType.UNDEFINED);
        if (type.held().isEmpty()) {
            throw Failure.MODEL.exception(
                    "a constant has elements of type " + type.text() + " (" + tensor.getDataType() + ")",
                    where,
                    "integers, booleans or floats",
                    NEXT);
        }
        if (tensor.hasSegment()) {
            throw failure("a constant is stored in segments", where, "whole constants");
        }
        Shape shape = shape(tensor.getDimsList(), where);
        long elements = shape.elements();
        long held = elements * type.held().orElseThrow().bytes();
        budget.spend(type == ElementType.DOUBLE ? 3 * held : held);
        if (held > Integer.MAX_VALUE - Long.BYTES) {
            throw failure("a constant takes " + held + " bytes", where, "less than 2 GiB");
        }
        Bytes data = data(tensor, type, Math.toIntExact(elements), where);
        return type == ElementType.DOUBLE
                ? new OnnxTensor(tensor.getName(), type, shape, narrowed(data), data)
                : new OnnxTensor(tensor.getName(), type, shape, data);
    }

    private Shape shape(List<Long> dims, String where) {
        if (dims.size() > MAX_RANK) {
            throw failure("a constant has " + dims.size() + " dimensions", where, "at most " + MAX_RANK);
        }
        List<Integer> sizes = new ArrayList<>();
        long elements = 1;
        for (long dim : dims) {
            if (dim < 0 || dim > Integer.MAX_VALUE || elements * Math.max(dim, 1) > Integer.MAX_VALUE) {
                throw failure(
                        "a constant has the dimensions " + dims, where, "dimensions of 0 or more, in all below 2^31");
            }
            elements *= Math.max(dim, 1);
            sizes.add((int) dim);
        }
        return new Shape(sizes);
    }

    private Bytes data(TensorProto tensor, ElementType type, int elements, String where) {
        boolean isExternal = tensor.getDataLocation() == TensorProto.DataLocation.EXTERNAL;
        if (isExternal || tensor.hasRawData()) {
            long size = ((long) elements * type.bits() + Byte.SIZE - 1) / Byte.SIZE;
            Bytes raw = isExternal
                    ? external.read(entries(tensor), size, where)
                    : Bytes.wrap(tensor.getRawData().toByteArray());
            if (raw.size() != size) {
                throw failure("a constant has " + raw.size() + " bytes", where, size + " bytes for its type");
            }
            byte[] held = allocate(type, elements);
            decode(
                    type,
                    raw.buffer().order(ByteOrder.LITTLE_ENDIAN),
                    elements,
                    ByteBuffer.wrap(held).order(ByteOrder.LITTLE_ENDIAN));
            return Bytes.wrap(held);
        }
        return typed(tensor, type, elements, where);
    }

    /** Memory is taken only for data that the file has; doubles are narrowed later. */
    private static byte[] allocate(ElementType type, int elements) {
        return new byte
                [elements
                        * (type == ElementType.DOUBLE
                                ? Double.BYTES
                                : type.held().orElseThrow().bytes())];
    }

    /** Doubles in single precision. */
    private static Bytes narrowed(Bytes doubles) {
        ByteBuffer all = doubles.buffer().order(ByteOrder.LITTLE_ENDIAN);
        return Bytes.ofReals(doubles.size() / Double.BYTES, i -> (float) all.getDouble(Double.BYTES * i));
    }

    /** Where a tensor's external data lies. */
    static Map<String, String> entries(TensorProto tensor) {
        Map<String, String> entries = new HashMap<>();
        for (StringStringEntryProto entry : tensor.getExternalDataList()) {
            entries.put(entry.getKey(), entry.getValue());
        }
        return entries;
    }

    private static Bytes typed(TensorProto tensor, ElementType type, int elements, String where) {
        int perEntry = type.bits() > 0 ? perByte(type) : 1;
        int expected = (elements + perEntry - 1) / perEntry;
        int count = count(tensor, type);
        if (count != expected) {
            throw failure("a constant of type " + type.text() + " has " + count + " elements", where, "" + expected);
        }
        byte[] held = allocate(type, elements);
        ByteBuffer out = ByteBuffer.wrap(held).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < elements; i++) {
            switch (type) {
                case FLOAT -> out.putFloat(tensor.getFloatData(i));
                case DOUBLE -> out.putDouble(tensor.getDoubleData(i));
                case INT64 -> out.putLong(tensor.getInt64Data(i));
                case UINT64 -> out.putLong(tensor.getUint64Data(i));
                case UINT32 -> out.putInt((int) tensor.getUint64Data(i));
                case FLOAT16 -> out.putFloat(HalfRounding.ofBits(tensor.getInt32Data(i)));
                case BFLOAT16 -> out.putFloat(ofBrain(tensor.getInt32Data(i)));
                case INT4, UINT4, INT2, UINT2, FLOAT4E2M1 -> putPart(type, tensor.getInt32Data(i / perEntry), i, out);
                case FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2, FLOAT8E5M2FNUZ, FLOAT8E8M0 ->
                    out.putFloat(ofByte(type, tensor.getInt32Data(i) & 0xFF));
                case UINT16 -> out.putInt(tensor.getInt32Data(i) & 0xFFFF);
                case BOOL -> out.put((byte) (tensor.getInt32Data(i) == 0 ? 0 : 1));
                default -> put(type.held().orElseThrow(), tensor.getInt32Data(i), out);
            }
        }
        return Bytes.wrap(held);
    }

    private static int count(TensorProto tensor, ElementType type) {
        return switch (type) {
            case FLOAT -> tensor.getFloatDataCount();
            case DOUBLE -> tensor.getDoubleDataCount();
            case INT64 -> tensor.getInt64DataCount();
            case UINT64, UINT32 -> tensor.getUint64DataCount();
            default -> tensor.getInt32DataCount();
        };
    }

    private static void put(DType held, int value, ByteBuffer out) {
        switch (held.bytes()) {
            case Byte.BYTES -> out.put((byte) value);
            case Short.BYTES -> out.putShort((short) value);
            default -> out.putInt(value);
        }
    }

    private static KilnException failure(String what, String where, String expected) {
        return Failure.MODEL.exception(what, where, expected, NEXT);
    }

    /**
     * Converts elements.
     *
     * @param raw as many bytes as the elements need
     * @param out gets the elements in the type in which the IR holds them, doubles as they are
     */
    private static void decode(ElementType type, ByteBuffer raw, int elements, ByteBuffer out) {
        for (int i = 0; i < elements; i++) {
            switch (type) {
                case FLOAT16 -> out.putFloat(HalfRounding.ofBits(raw.getShort()));
                case BFLOAT16 -> out.putFloat(ofBrain(raw.getShort()));
                case UINT16 -> out.putInt(raw.getShort() & 0xFFFF);
                case INT4, UINT4, INT2, UINT2, FLOAT4E2M1 -> putPart(type, raw.get(i / perByte(type)), i, out);
                case FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2, FLOAT8E5M2FNUZ, FLOAT8E8M0 ->
                    out.putFloat(ofByte(type, raw.get() & 0xFF));
                case BOOL -> out.put((byte) (raw.get() == 0 ? 0 : 1));
                default -> copy(type, raw, out);
            }
        }
    }

    /** How many elements share a byte. */
    private static int perByte(ElementType type) {
        return Math.max(1, Byte.SIZE / type.bits());
    }

    /** Appends one of the elements that share a byte, the first in its lowest bits. */
    private static void putPart(ElementType type, int all, int index, ByteBuffer out) {
        int bits = type.bits();
        int part = (all >> (bits * (index % perByte(type)))) & ((1 << bits) - 1);
        if (type.isFloat()) {
            out.putFloat(ofByte(type, part));
        } else {
            boolean isNegative = !type.isUnsigned() && part >= 1 << (bits - 1);
            out.put((byte) (isNegative ? part - (1 << bits) : part));
        }
    }

    private static void copy(ElementType type, ByteBuffer raw, ByteBuffer out) {
        for (int i = 0; i < type.bits() / Byte.SIZE; i++) {
            out.put(raw.get());
        }
    }

    /** A number of a type of 8 or 4 bits, by its bits. */
    private static float ofByte(ElementType type, int bits) {
        return switch (type) {
            case FLOAT8E4M3FN -> (bits & 0x7F) == 0x7F ? Float.NaN : small(bits, 3, 7);
            case FLOAT8E4M3FNUZ -> bits == 0x80 ? Float.NaN : small(bits, 3, 8);
            case FLOAT8E5M2 -> HalfRounding.ofBits(bits << Byte.SIZE);
            case FLOAT8E5M2FNUZ -> bits == 0x80 ? Float.NaN : small(bits, 2, 16);
            case FLOAT8E8M0 -> bits == 0xFF ? Float.NaN : Math.scalb(1f, bits - BRAIN_BIAS);
            case FLOAT4E2M1 -> (bits & 8) == 0 ? FOUR_BITS.get(bits & 7) : -FOUR_BITS.get(bits & 7);
            default -> throw new IllegalArgumentException(type.text());
        };
    }

    /** A number of 8 bits without infinities. */
    private static float small(int bits, int fractionBits, int bias) {
        int fraction = bits & ((1 << fractionBits) - 1);
        int exponent = (bits & 0x7F) >> fractionBits;
        float magnitude = exponent == 0
                ? Math.scalb((float) fraction, 1 - bias - fractionBits)
                : Math.scalb((float) (fraction | 1 << fractionBits), exponent - bias - fractionBits);
        return (bits & 0x80) == 0 ? magnitude : -magnitude;
    }

    /** A bfloat16 number, by its bits: the upper half of a float32. */
    private static float ofBrain(int bits) {
        return Float.intBitsToFloat(bits << 16);
    }
}
