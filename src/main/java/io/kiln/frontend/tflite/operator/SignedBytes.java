// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operator;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Constant;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Converts quantized tensors of uint8, as in models of TensorFlow 1, to int8: elements and zero points are reduced by
 * 128, so that the real values stay the same. Importers support int8 only. Bytes that are not quantized are unchanged.
 */
public final class SignedBytes {
    private final OperatorRecord operator;
    private final TensorValues values;
    private final List<Optional<TfliteTensor>> inputs;
    private final boolean isSigned;
    private final boolean isEither;

    /**
     * The tensors of an operator, as in the file.
     *
     * @param uint8 how its importer sees quantized uint8
     */
    public SignedBytes(
            OperatorRecord operator,
            Registration.Uint8 uint8,
            TensorValues values,
            List<Optional<TfliteTensor>> inputs) {
        this.operator = operator;
        this.values = values;
        this.inputs = inputs;
        this.isSigned = uint8 == Registration.Uint8.AS_INT8;
        this.isEither = uint8 == Registration.Uint8.AS_HELD;
    }

    /** Whether the operator mixes signed and unsigned quantized bytes. */
    public boolean areMixed(List<TfliteTensor> outputs) {
        List<TfliteTensor> all = Stream.concat(inputs.stream().flatMap(Optional::stream), outputs.stream())
                .toList();
        return isSigned
                && all.stream().anyMatch(TfliteTensor::isQuantizedUint8)
                && all.stream()
                        .anyMatch(
                                t -> t.dtype() == DType.INT8 && t.quantization().isPresent());
    }

    /** The inputs as the operator's importer sees them. */
    public List<Optional<TfliteTensor>> inputs() {
        return inputs.stream().map(input -> input.map(this::input)).toList();
    }

    private TfliteTensor input(TfliteTensor tensor) {
        boolean isHeldSigned = !tensor.isConstant()
                && values.value(tensor.index())
                        .filter(value -> values.graph().type(value).dtype() == DType.INT8)
                        .isPresent();
        if (!tensor.isQuantizedUint8() || !(isSigned || (isEither && isHeldSigned))) {
            return tensor;
        }
        if (!tensor.isConstant()) {
            return tensor.asInt8(Optional.empty());
        }
        operator.table().spend(tensor.type().bytes());
        return tensor.asInt8(Optional.of(of(values.constant(tensor), DType.INT8)));
    }

    /** The outputs as the operator's importer sees them; a rescaling of int8 to uint8 results in uint8 directly. */
    public List<TfliteTensor> outputs(List<TfliteTensor> outputs) {
        boolean ofUint8OrReal = isEither
                && inputs.stream()
                        .flatMap(Optional::stream)
                        .allMatch(t -> t.isQuantizedUint8() || t.dtype().isFloat());
        return outputs.stream()
                .map(t -> t.isQuantizedUint8() && (isSigned || ofUint8OrReal) ? t.asInt8(Optional.empty()) : t)
                .toList();
    }

    /** Whether a conversion between the types is a change of 128. */
    static boolean convert(DType from, DType to) {
        return (from == DType.UINT8 && to == DType.INT8) || (from == DType.INT8 && to == DType.UINT8);
    }

    /** Whether two types are the same, or differ in the sign of bytes that are available signed and unsigned. */
    public static boolean areSame(TensorType held, TensorType stated) {
        return held.shape().equals(stated.shape())
                && (held.dtype() == stated.dtype() || convert(held.dtype(), stated.dtype()));
    }

    /** A constant in a type that differs at most in its sign. */
    public static Constant of(Constant constant, DType to) {
        if (!convert(constant.type().dtype(), to)) {
            return constant;
        }
        byte[] bytes = constant.data().toArray();
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] ^= (byte) 0x80;
        }
        return new Constant(constant.name(), new TensorType(constant.type().shape(), to), Bytes.wrap(bytes));
    }
}
