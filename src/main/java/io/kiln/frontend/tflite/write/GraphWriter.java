// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions.Add;
import io.kiln.frontend.tflite.schema.OperatorOptions.Mul;
import io.kiln.frontend.tflite.schema.SchemaEnums.FusedActivation;
import io.kiln.frontend.tflite.write.Emission.Options;
import io.kiln.frontend.tflite.write.TfliteFile.OperatorEntry;
import io.kiln.frontend.tflite.write.TfliteFile.TensorEntry;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Quantization;
import io.kiln.ir.arith.TflPowerScales;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.plan.Format;
import io.kiln.quantize.plan.QuantizedConstants;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Collects tensors and operators, and converts values where operators need other number formats. */
final class GraphWriter {
    private static final float THIRDS = 3;

    private final List<TensorEntry> tensors = new ArrayList<>();
    private final List<OperatorEntry> operators = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private final Set<String> dense = new HashSet<>();
    private final Map<Integer, Map<Format, Integer>> values = new HashMap<>();
    private final Map<Integer, Format> computed = new HashMap<>();

    /** Keeps names for inputs and outputs of the model. */
    void reserve(String name) {
        names.add(name);
    }

    /** A new tensor under a name that was reserved. */
    int reserved(String name, TensorType type, Format format) {
        return add(name, type, format, Optional.empty());
    }

    /** A new computed tensor; its name gets a number if it is taken. */
    int tensor(String name, TensorType type, Format format) {
        return add(unused(name), type, format, Optional.empty());
    }

    /** A new tensor that keeps its elements between runs. */
    int variable(String name, TensorType type, Format format) {
        Optional<TensorEntry.Scaling> scaling = format.quantization().map(TensorEntry.Scaling::of);
        tensors.add(new TensorEntry(unused(name), type, scaling, Optional.empty(), true));
        return tensors.size() - 1;
    }

    private int add(String name, TensorType type, Format format, Optional<Bytes> data) {
        Optional<TensorEntry.Scaling> scaling = format.quantization().map(TensorEntry.Scaling::of);
        tensors.add(new TensorEntry(name, new TensorType(type.shape(), format.dtype()), scaling, data));
        return tensors.size() - 1;
    }

    private String unused(String wanted) {
        String base = wanted.isEmpty() ? "tensor" : wanted;
        String name = base;
        for (int number = 1; !names.add(name); number++) {
            name = base + "_" + number;
        }
        return name;
    }

    /** A constant of integers with scales. */
    int constant(Constant constant, TensorEntry.Scaling scaling) {
        tensors.add(new TensorEntry(
                unused(constant.name()), constant.type(), Optional.of(scaling), Optional.of(constant.data())));
        return tensors.size() - 1;
    }

    /** A constant that is not quantized. */
    int constant(Constant constant) {
        return constant(constant, Format.plain(constant.type().dtype()));
    }

    private int constant(Constant constant, Format format) {
        return add(unused(constant.name()), constant.type(), format, Optional.of(constant.data()));
    }

    /** An int32 vector that is a parameter of an operator, such as axes or sizes. */
    int ints(String name, List<Integer> elements) {
        return matrix(name, Shape.of(elements.size()), elements);
    }

    /** An int32 matrix that is a parameter of an operator. */
    int matrix(String name, Shape shape, List<Integer> elements) {
        return constant(Constant.integers(name, new TensorType(shape, DType.INT32), elements::get));
    }

    /** Records which tensor holds a value in the format in which it is computed. */
    void define(int value, int tensor) {
        Format format = format(tensor);
        computed.put(value, format);
        values.computeIfAbsent(value, v -> new HashMap<>()).put(format, tensor);
    }

    /** The tensor that holds a value in the format in which it is computed. */
    int own(int value) {
        return values.get(value).get(computed.get(value));
    }

    Format format(int tensor) {
        TensorEntry entry = tensors.get(tensor);
        return new Format(
                entry.type().dtype(),
                entry.scaling().map(s -> new Quantization(s.scales().get(0), s.zeroPoint())));
    }

    TensorEntry entry(int tensor) {
        return tensors.get(tensor);
    }

    /** The tensor that holds an argument in a format; converted at its first use. */
    int value(Arg arg, Format format) {
        if (arg instanceof Constant constant) {
            return format.quantization()
                    .map(q -> constant(QuantizedConstants.of(constant, format.dtype(), q), format))
                    .orElseGet(() -> constant(constant));
        }
        int id = ((Arg.Ref) arg).id();
        Map<Format, Integer> known = values.get(id);
        Integer tensor = known.get(format);
        if (tensor == null) {
            TensorEntry from = tensors.get(own(id));
            tensor = tensor(from.name() + "_" + format.dtype().text(), from.type(), format);
            convert(own(id), tensor);
            known.put(format, tensor);
        }
        return tensor;
    }

    /** Writes a product with a constant that keeps the integers of a tensor and multiplies its scale; it rounds nothing. */
    void multiply(int from, float factor, int to) {
        DType dtype = format(to).dtype();
        Format constant = new Format(dtype, Optional.of(new Quantization(factor / dtype.max(), 0)));
        List<Integer> inputs = List.of(from, value(Constant.vector(factor), constant));
        Options options = Options.of(Mul.TYPE).with(Mul.FUSED_ACTIVATION_FUNCTION, FusedActivation.NONE.code());
        operator(BuiltinOperator.MUL, 2, inputs, to, options);
    }

    /**
     * Int8 as int16, which QUANTIZE of TensorFlow Lite's library does not do: the same integers, then a sum that takes their zero point off
     * and rescales. The sum of {@linkplain TflPowerScales powers of two} would not rescale; a constant in thirds keeps it from being one.
     */
    private void widen(int from, int to) {
        Quantization narrow = format(from).quantization().orElseThrow();
        Format wide = new Format(DType.INT16, Optional.of(new Quantization(narrow.scale(), 0)));
        int cast = tensor(tensors.get(from).name() + "_wide", tensors.get(from).type(), wide);
        operator(BuiltinOperator.CAST, 1, List.of(from), cast, Options.NONE);
        float output = format(to).quantization().orElseThrow().scale();
        boolean isPower = TflPowerScales.areAll(List.of(narrow.scale(), output));
        Format unit =
                isPower ? new Format(DType.INT16, Optional.of(new Quantization(narrow.scale() / THIRDS, 0))) : wide;
        float shift = -narrow.zeroPoint() * narrow.scale();
        List<Integer> inputs = List.of(cast, value(Constant.vector(shift), unit));
        Options options = Options.of(Add.TYPE).with(Add.FUSED_ACTIVATION_FUNCTION, FusedActivation.NONE.code());
        operator(BuiltinOperator.ADD, 2, inputs, to, options);
    }

    /** Converts a tensor to another format. */
    void convert(int from, int to) {
        if (format(from).dtype() == DType.INT8 && format(to).dtype() == DType.INT16) {
            widen(from, to);
            return;
        }
        boolean isDequantize = format(to).quantization().isEmpty();
        boolean isRescale = format(from).quantization().isPresent() && !isDequantize;
        boolean isWide = format(from).dtype() == DType.INT16 || format(to).dtype() == DType.INT16;
        int version = isDequantize ? isWide ? 3 : 2 : isRescale ? 2 : 1;
        operator(
                isDequantize ? BuiltinOperator.DEQUANTIZE : BuiltinOperator.QUANTIZE,
                version,
                List.of(from),
                to,
                Options.NONE);
    }

    void operator(BuiltinOperator code, int version, List<Integer> inputs, int output, Options options) {
        operators.add(new OperatorEntry(code, version, "", inputs, List.of(output), options));
    }

    void operator(OperatorEntry operator) {
        operators.add(operator);
    }

    /** Records that a convolution that computes a tensor is a fully connected layer. */
    void dense(int tensor) {
        dense.add(tensors.get(tensor).name());
    }

    /** The names of tensors that fully connected layers compute. */
    Set<String> dense() {
        return Set.copyOf(dense);
    }

    void custom(String name, List<Integer> inputs, int output) {
        operators.add(new OperatorEntry(BuiltinOperator.CUSTOM, 1, name, inputs, List.of(output), Options.NONE));
    }

    Bytes file(List<Integer> inputs, List<Integer> outputs) {
        return TfliteFile.of(tensors, operators, inputs, outputs);
    }
}
