// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.Bytes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.tensorflow.lite.schema.TensorType;

/** A tensor to be written into a model; anything may be wrong with it. */
public record TensorSpec(
        String name,
        byte type,
        List<Integer> shape,
        Bytes data,
        List<Float> scales,
        List<Long> zeroPoints,
        int dimension,
        boolean variable) {
    /** An int8 tensor of one scale. */
    public static TensorSpec int8(String name, float scale, long zeroPoint, int... shape) {
        return of(name, TensorType.INT8, shape).quantized(scale, zeroPoint);
    }

    public static TensorSpec float32(String name, int... shape) {
        return of(name, TensorType.FLOAT32, shape);
    }

    /** A constant int32 vector of the same. */
    public static TensorSpec int32(String name, List<Integer> values) {
        return int32(name, values.stream().mapToInt(Integer::intValue).toArray());
    }

    /** A constant int32 vector, as biases and shapes are. */
    public static TensorSpec int32(String name, int... values) {
        return of(name, TensorType.INT32, values.length).withData(LittleEndian.ofInts(values));
    }

    public static TensorSpec of(String name, byte type, int... shape) {
        return of(name, type, Arrays.stream(shape).boxed().toList());
    }

    public static TensorSpec of(String name, byte type, List<Integer> shape) {
        return new TensorSpec(name, type, shape, Bytes.wrap(new byte[0]), List.of(), List.of(), 0, false);
    }

    public int rank() {
        return shape.size();
    }

    public TensorSpec withShape(List<Integer> newShape) {
        return new TensorSpec(name, type, newShape, data, scales, zeroPoints, dimension, variable);
    }

    /** A constant int64 vector. */
    public static TensorSpec int64(String name, long... values) {
        return of(name, TensorType.INT64, values.length).withData(LittleEndian.ofLongs(values));
    }

    public TensorSpec quantized(float scale, long zeroPoint) {
        return quantized(new float[] {scale}, new long[] {zeroPoint}, 0);
    }

    public TensorSpec quantized(float[] newScales, long[] newZeroPoints, int newDimension) {
        List<Float> scaleList = new ArrayList<>();
        for (float scale : newScales) {
            scaleList.add(scale);
        }
        List<Long> zeroPointList = Arrays.stream(newZeroPoints).boxed().toList();
        return new TensorSpec(name, type, shape, data, List.copyOf(scaleList), zeroPointList, newDimension, variable);
    }

    public TensorSpec withData(byte... newData) {
        return new TensorSpec(name, type, shape, Bytes.copyOf(newData), scales, zeroPoints, dimension, variable);
    }

    /** An int8 tensor of the same real numbers as uint8: elements and zero points are 128 more. */
    public TensorSpec asUint8() {
        byte[] bytes = data.toArray();
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] ^= (byte) 0x80;
        }
        List<Long> moved = zeroPoints.stream().map(z -> z + 128).toList();
        return new TensorSpec(name, TensorType.UINT8, shape, Bytes.wrap(bytes), scales, moved, dimension, variable);
    }

    public TensorSpec asVariable() {
        return new TensorSpec(name, type, shape, data, scales, zeroPoints, dimension, true);
    }

    boolean isConstant() {
        return data.size() > 0;
    }

    float[] scaleArray() {
        float[] array = new float[scales.size()];
        for (int i = 0; i < array.length; i++) {
            array[i] = scales.get(i);
        }
        return array;
    }

    long[] zeroPointArray() {
        return zeroPoints.stream().mapToLong(Long::longValue).toArray();
    }
}
