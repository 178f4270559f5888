// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operator;

import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.flatbuffer.FlexBuffer;
import io.kiln.frontend.tflite.operator.Subgraphs.ImportedSubgraph;
import io.kiln.frontend.tflite.schema.ModelTables.Operator;
import io.kiln.frontend.tflite.schema.OperatorOptions.OptionsType;
import io.kiln.frontend.tflite.tensor.PlaceFindings;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.frontend.tflite.tensor.TfliteTensor.TensorQuantization;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** One operator during its import: its tensors and options, its errors, and the graph for its bindings. */
public final class OperatorContext implements Formulas {
    /** TFLite treats scales as equal up to this difference. */
    private static final float TOLERANCE = 1e-6f;

    private static final int MOST_INTEGERS = 64;
    private static final String NEXT = "Export the model again";

    private final Subgraphs subgraphs;
    private final OperatorRecord operator;
    private final TensorValues values;
    private final List<Optional<TfliteTensor>> inputs;
    private final List<TfliteTensor> outputs;
    private final Origin origin;
    private final PlaceFindings findings;
    private final boolean infersShape;

    /** Tensors that an operator reads, empty where it leaves one out, and those that it computes. */
    public record Operands(List<Optional<TfliteTensor>> inputs, List<TfliteTensor> outputs) {
        public Operands {
            inputs = List.copyOf(inputs);
            outputs = List.copyOf(outputs);
        }
    }

    public OperatorContext(
            Subgraphs subgraphs,
            OperatorRecord operator,
            TensorValues values,
            Operands operands,
            String file,
            Supplier<String> where,
            boolean infersShape) {
        this.subgraphs = subgraphs;
        this.operator = operator;
        this.values = values;
        this.inputs = operands.inputs;
        this.outputs = operands.outputs;
        this.origin = new Origin(
                file,
                operator.index(),
                operator.name(),
                outputs.isEmpty() ? "" : outputs.get(0).name());
        this.findings = new PlaceFindings(where);
        this.infersShape = infersShape;
    }

    String name() {
        return operator.name();
    }

    /** Whether the operator computes what TensorFlow Lite does where TensorFlow Lite Micro differs. */
    public boolean followsLite() {
        return subgraphs.rounding() == TfliteRounding.LITE;
    }

    public TfliteTensor input(int index) {
        return optionalInput(index).orElseThrow(() -> failure("input " + index + " is missing", "a tensor"));
    }

    public Optional<TfliteTensor> optionalInput(int index) {
        return index < inputs.size() ? inputs.get(index) : Optional.empty();
    }

    /** Number of inputs, missing optional ones included. */
    public int inputCount() {
        return inputs.size();
    }

    /** The only output as in the file; its shape is meaningless if shapes are inferred. */
    public TfliteTensor output() {
        if (outputs.size() != 1) {
            throw failure("it has " + outputs.size() + " outputs", "1 output");
        }
        return outputs.get(0);
    }

    /** All outputs as in the file; their shapes are meaningless if shapes are inferred. */
    public List<TfliteTensor> outputs() {
        return outputs;
    }

    /**
     * The output's shape for operators whose result does not determine it: the file's, or the inferred one if shapes
     * are inferred.
     */
    public Shape outputShape(Supplier<Shape> inferred) {
        return infersShape ? inferred.get() : output().shape();
    }

    /** The operator's table in the file, for fields outside {@code builtin_options}. */
    public OperatorRecord operator() {
        return operator;
    }

    /** The options table, empty if all options have defaults; another type than the operator's own is refused. */
    public Optional<FlatTable> options(OptionsType type) {
        FlatTable table = operator.table();
        int stated = table.get(Operator.BUILTIN_OPTIONS_TYPE);
        if (stated == OptionsType.NONE.code()) {
            return Optional.empty();
        }
        if (stated != type.code()) {
            throw failure("its options are of type " + stated, "options of type " + type.code() + " (BuiltinOptions)");
        }
        return table.get(Operator.BUILTIN_OPTIONS);
    }

    /** The options table of an operator that was added to the schema later; another type than its own is refused. */
    public FlatTable laterOptions(OptionsType type) {
        FlatTable table = operator.table();
        int stated = table.get(Operator.BUILTIN_OPTIONS_2_TYPE);
        if (stated != type.code()) {
            throw failure("its options are of type " + stated, "options of type " + type.code() + " (BuiltinOptions2)");
        }
        return table.get(Operator.BUILTIN_OPTIONS_2)
                .orElseThrow(() -> failure("its options are missing", "a table of type " + type.code()));
    }

    /** The options table of an operator without defaults. */
    public FlatTable requiredOptions(OptionsType type) {
        return options(type).orElseThrow(() -> failure("its options are missing", "a table of type " + type.code()));
    }

    /** The options of a custom operator. */
    public CustomOptions customOptions() {
        return new CustomOptions(FlexBuffer.read(operator.customOptions(), findings::where), findings);
    }

    /** Reports a problem unless the condition holds. */
    public boolean require(boolean holds, String what, String expected, String next) {
        if (!holds) {
            findings.add(what, expected, next);
        }
        return holds;
    }

    /** The same of a problem that another export may solve. */
    public boolean require(boolean holds, String what, String expected) {
        return require(holds, what, expected, NEXT);
    }

    @Override
    public void requireThat(boolean holds, String what, String expected) {
        requireThat(holds, what, expected, NEXT);
    }

    /** The same with advice. */
    public void requireThat(boolean holds, String what, String expected, String next) {
        require(holds, what, expected, next);
        check();
    }

    /** Ends the import if there is any problem. */
    public void check() {
        findings.throwIfAny();
    }

    /** Counts bytes derived from the file, so that a small file cannot become a huge graph. */
    public void spend(long bytes) {
        operator.table().spend(bytes);
    }

    @Override
    public KilnException failure(String what, String expected) {
        findings.add(what, expected, NEXT);
        return findings.exception();
    }

    /** Whether the shapes in the file are ignored, because the user has given other shapes of inputs. */
    public boolean infersShape() {
        return infersShape;
    }

    /** Where the file's memory plan puts a tensor, if it does. */
    public OptionalInt arenaOffset(TfliteTensor tensor) {
        return subgraphs.arenaOffset(tensor.index());
    }

    public Arg value(int input) {
        return value(input(input));
    }

    /** The value of a computed input. */
    public Arg value(TfliteTensor tensor) {
        return tensor.isConstant()
                ? values.constant(tensor)
                : values.value(tensor.index(), tensor.dtype(), origin)
                        .orElseThrow(() -> failure("`" + tensor.name() + "` has no value", ""));
    }

    public Constant constant(TfliteTensor tensor) {
        return values.constant(tensor);
    }

    @Override
    public Arg emit(Op op, List<Arg> args) {
        try {
            return values.graph().emit(op, args, origin);
        } catch (IllegalArgumentException e) {
            throw failure(e.getMessage(), "");
        }
    }

    /** Sets the value of the only output tensor; it must have the type stated in the file. */
    public void finish(Arg value) {
        finish(output(), value);
    }

    /** Appends a call that computes the only output. */
    public void finish(Op op, Arg... args) {
        finish(emit(op, args));
    }

    /** Sets the value of one of the output tensors. */
    public void finish(TfliteTensor output, Arg value) {
        TensorType expected = infersShape ? new TensorType(type(value).shape(), output.dtype()) : output.type();
        if (!type(value).equals(expected)) {
            throw failure(
                    "it computes " + type(value).text() + " but its output is " + expected.text(),
                    "an output tensor of the computed shape and type");
        }
        values.define(output.index(), value);
    }

    /** The graph, for operators that keep state or call functions. */
    public GraphBuilder graph() {
        return values.graph();
    }

    /** The values of all tensors, for operators that share state or have several results. */
    public TensorValues values() {
        return values;
    }

    public ConstantFolder folder() {
        return subgraphs.folder();
    }

    /** Declares a C function of the user; returns the types of its first declaration. */
    public String declare(String function, String signature) {
        return subgraphs.declare(function, signature);
    }

    /**
     * A subgraph that the operator calls.
     *
     * @param handles for each operand, the variable whose handle it is
     * @param operands whose shapes it gets if shapes are inferred; with none, it has those in the file
     */
    public ImportedSubgraph subgraph(int index, List<Optional<String>> handles, List<TfliteTensor> operands) {
        List<Shape> shapes =
                infersShape ? operands.stream().map(TfliteTensor::shape).toList() : List.of();
        return subgraphs.called(index, "subgraph" + index, handles, shapes);
    }

    /** The values of a subgraph's outputs, given those of its inputs; its operators become part of this function. */
    public List<Arg> inlined(int index, List<Arg> args) {
        return subgraphs.inlined(index, values, args, infersShape);
    }

    @Override
    public TensorType type(Arg value) {
        return values.graph().type(value);
    }

    /** All tensors have the same type, one that the operator's reference kernel supports. */
    public boolean requireTypes(Set<DType> supported, TfliteTensor... tensors) {
        boolean holds = true;
        for (TfliteTensor tensor : tensors) {
            holds &= require(
                    supported.contains(tensor.dtype()) && tensor.dtype() == tensors[0].dtype(),
                    "element type " + tensor.dtype().text() + " of `" + tensor.name() + "` is not supported here",
                    text(supported) + (tensors.length > 1 ? ", the same for all tensors" : ""),
                    "Convert the model with one of these types");
        }
        return holds;
    }

    /** The same, and ends the import if there is any problem. */
    public void checkTypes(Set<DType> supported, TfliteTensor... tensors) {
        requireTypes(supported, tensors);
        check();
    }

    public static String text(Set<DType> dtypes) {
        return dtypes.stream().sorted().map(DType::text).collect(Collectors.joining(", "));
    }

    /** Each tensor has one scale and zero point. */
    public void requireScales(TfliteTensor... tensors) {
        for (TfliteTensor tensor : tensors) {
            TensorQuantization quantization = tensor.quantization();
            require(
                    quantization.isPerTensor(),
                    "`" + tensor.name() + "` has "
                            + (quantization.isPresent() ? quantization.scaleCount() + " scales" : "no scale"),
                    "one scale and zero point for the tensor",
                    "Quantize the model again");
        }
    }

    /** The same, and ends the import if there is any problem. */
    public void checkScales(TfliteTensor... tensors) {
        requireScales(tensors);
        check();
    }

    /** The zero points of int16 are 0, as the reference kernel requires. */
    public void requireSymmetric(TfliteTensor... tensors) {
        for (TfliteTensor tensor : tensors) {
            if (tensor.dtype() == DType.INT16 && tensor.quantization().isPerTensor()) {
                require(
                        tensor.quantization().zeroPoint() == 0,
                        "`" + tensor.name() + "` is int16 with zero point "
                                + tensor.quantization().zeroPoint(),
                        "zero point 0",
                        "Quantize the model again");
            }
        }
    }

    /** A function of two quantized elements in the arithmetic of the chosen library. */
    public QnnBinary binary(QnnBinary.Kind kind) {
        return followsLite() ? QnnBinary.ofLite(kind) : new QnnBinary(kind);
    }

    /** Data and output of one type, int8 or float32; int8 with one scale each. */
    public void requireSame(TfliteTensor... tensors) {
        DType dtype = tensors[0].dtype();
        boolean supported = dtype == DType.INT8 || dtype == DType.FLOAT32;
        for (TfliteTensor tensor : tensors) {
            require(
                    supported && tensor.dtype() == dtype,
                    "element type " + tensor.dtype().text() + " of `" + tensor.name() + "` is not supported here",
                    "int8 or float32, the same for all tensors",
                    "Quantize the whole model to int8, inputs and outputs included, or keep all of it float32");
            if (tensor.dtype() == DType.INT8) {
                requireScales(tensor);
            }
        }
    }

    public void requireConstant(String what, TfliteTensor tensor) {
        require(
                tensor.isConstant(),
                what + " `" + tensor.name() + "` is not constant",
                what + " known at build time",
                "Freeze the variables before converting");
    }

    /** The output's quantization must equal the input's. */
    public void requireEqual(TfliteTensor input, TfliteTensor output) {
        TensorQuantization from = input.quantization();
        TensorQuantization to = output.quantization();
        require(
                Math.abs(from.scale(0) - to.scale(0)) <= TOLERANCE && from.zeroPoint() == to.zeroPoint(),
                "output `" + output.name() + "` has scale " + to.scale(0) + " and zero point " + to.zeroPoint(),
                "the input's scale " + from.scale(0) + " and zero point " + from.zeroPoint(),
                "Quantize the model again");
    }

    /** The output must have a given quantization, its scale within a thousandth. */
    public void requireFixed(TfliteTensor output, float scale, int zeroPoint) {
        TensorQuantization to = output.quantization();
        require(
                Math.abs(to.scale(0) - scale) <= 0.001f * scale && to.zeroPoint() == zeroPoint,
                "output `" + output.name() + "` has scale " + to.scale(0) + " and zero point " + to.zeroPoint(),
                "scale " + scale + " and zero point " + zeroPoint,
                "Quantize the model again");
    }

    /**
     * The elements of a tensor of int32 or int64.
     *
     * @param what name in messages
     */
    public int[] integers(String what, TfliteTensor tensor) {
        require(
                (tensor.dtype() == DType.INT32 || tensor.dtype() == DType.INT64)
                        && tensor.shape().elements() <= MOST_INTEGERS,
                what + " are " + tensor.text(),
                "int32 or int64, at most " + MOST_INTEGERS + " elements");
        requireConstant(what, tensor);
        check();
        Constant constant = constant(tensor);
        int[] values = new int[constant.elements()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, constant.integer(i)));
        }
        return values;
    }

    /** As {@link #integers}, of a given number. */
    public int[] integers(String what, TfliteTensor tensor, int count) {
        int[] values = integers(what, tensor);
        requireThat(values.length == count, what + " are " + tensor.text(), "a number of elements of " + count);
        return values;
    }

    /** An axis of a tensor: negative values count from the end; the result is from 0 to the rank minus 1. */
    public int axis(int stated, int rank) {
        boolean holds = stated >= -rank && stated < rank;
        requireThat(holds, "axis " + stated + " does not exist", -rank + " to " + (rank - 1));
        return stated < 0 ? stated + rank : stated;
    }

    /** The axis in a tensor of one element. */
    public int axis(TfliteTensor tensor, int rank) {
        return axis(integers("the axis", tensor, 1)[0], rank);
    }
}
