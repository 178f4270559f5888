// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.CallRules;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Variable;
import io.kiln.ir.op.Accumulation;
import io.kiln.ir.op.AvgPool2d;
import io.kiln.ir.op.BiasAdd;
import io.kiln.ir.op.Clip;
import io.kiln.ir.op.Conv2d;
import io.kiln.ir.op.Conv2dTranspose;
import io.kiln.ir.op.Copy;
import io.kiln.ir.op.Dense;
import io.kiln.ir.op.MaxPool2d;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnAdd;
import io.kiln.ir.op.QnnConv2d;
import io.kiln.ir.op.QnnConv2dTranspose;
import io.kiln.ir.op.QnnDense;
import io.kiln.ir.op.QnnDequantize;
import io.kiln.ir.op.QnnRequantize;
import io.kiln.ir.op.Role;
import io.kiln.ir.op.TflNormalize;
import io.kiln.ir.op.TflRequantize;
import io.kiln.ir.op.TflSoftmax;
import io.kiln.ir.text.Place;
import io.kiln.ir.type.TensorType;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What Kiln compiles of what the operators allow: element types, what must be constant, where an accumulator may go, and the ranges of
 * values. The importer of TensorFlow Lite models keeps to the same by how it makes its functions.
 */
final class OperatorRules {
    private static final String USE = "Change the model, or compile its .tflite file";

    private final Function function;
    private final Map<Integer, Place> places;
    private final Findings findings;
    private final Map<Integer, TensorType> types;
    private final Map<Integer, Binding> bindings;
    private final Map<Integer, Integer> uses;
    private final Set<Integer> variables;
    private final Set<Integer> constants = new HashSet<>();

    OperatorRules(Function function, Map<Integer, Place> places, Findings findings) {
        this.function = function;
        this.places = places;
        this.findings = findings;
        this.types = function.types();
        this.bindings = function.bindingsById();
        this.uses = function.useCounts();
        this.variables = function.variables().stream().map(Variable::id).collect(Collectors.toSet());
    }

    /** Notes every violation. A result may also be a variable that an operator writes. */
    void check() {
        function.bindings().forEach(this::check);
        function.results().stream().filter(r -> !variables.contains(r.id())).forEach(result -> {
            Binding binding = bindings.get(result.id());
            require(binding, !constants.contains(result.id()), "a result depends on no input", "a computed result");
            require(
                    binding,
                    !isAccumulator(binding) || isWord(binding),
                    "a result is an unfinished accumulator",
                    "a rescaled result");
        });
    }

    private void check(Binding binding) {
        boolean fixed =
                binding.args().stream().allMatch(a -> a instanceof Constant || constants.contains(((Arg.Ref) a).id()));
        if (fixed && !(binding.op() instanceof Copy)) {
            constants.add(binding.id());
        }
        Op op = binding.op();
        boolean behindLayer = op instanceof BiasAdd || op instanceof TflRequantize || op instanceof QnnRequantize;
        for (Arg arg : binding.args()) {
            if (arg instanceof Arg.Ref ref && bindings.containsKey(ref.id()) && isAccumulator(bindings.get(ref.id()))) {
                require(
                        binding,
                        isWord(bindings.get(ref.id())) || (behindLayer && uses.get(ref.id()) == 1),
                        op.name() + " reads an accumulator of int64",
                        "nn.bias_add, qnn.requantize or tfl.requantize alone behind qnn.conv2d and qnn.dense");
            }
        }
        checkWrites(binding);
        CallRules.violations(binding, function, types)
                .forEach(violation -> require(binding, false, violation, "functions and arguments that fit"));
        if (binding.args().isEmpty()) {
            return;
        }
        checkData(binding);
        checkConstants(binding);
        new ValueRules(binding, types, (holds, what, expected) -> require(binding, holds, what, expected)).check();
    }

    private void checkWrites(Binding binding) {
        for (int position : binding.op().writes()) {
            boolean isVariable = binding.args().get(position) instanceof Arg.Ref ref && variables.contains(ref.id());
            require(
                    binding,
                    isVariable,
                    "argument " + (position + 1) + " of " + binding.op().name() + " is no variable",
                    "what a ref made");
        }
    }

    /** The integers that a quantized layer sums up, with or without its bias, and other sums. */
    private boolean isAccumulator(Binding binding) {
        return (isQuantizedLayer(binding.op())
                        || binding.op() instanceof BiasAdd
                        || (binding.op() instanceof Accumulation
                                && dtype(binding, 0) != binding.type().dtype()))
                && !binding.type().dtype().isFloat();
    }

    /** Sums of int32 are stored where they are not rescaled at once. */
    private static boolean isWord(Binding binding) {
        return binding.type().dtype() == DType.INT32;
    }

    private static boolean isQuantizedLayer(Op op) {
        return op instanceof QnnConv2d || op instanceof QnnConv2dTranspose || op instanceof QnnDense;
    }

    private static boolean isRealLayer(Op op) {
        return op instanceof Conv2d || op instanceof Conv2dTranspose || op instanceof Dense;
    }

    private void checkData(Binding binding) {
        Op op = binding.op();
        DType data = dtype(binding, 0);
        boolean holds = true;
        if (isQuantizedLayer(op)) {
            holds = data == DType.INT8 || data == DType.INT16 || data == DType.FLOAT32;
        } else if (op instanceof QnnAdd) {
            holds = data == DType.INT8 || data == DType.INT16;
        } else if (op instanceof QnnDequantize) {
            holds = data == DType.INT8 || data == DType.INT16 || data == DType.UINT8;
        } else if (op instanceof TflSoftmax) {
            holds = data == DType.INT8 || data == DType.INT16;
        } else if (op instanceof TflNormalize) {
            holds = data == DType.INT8;
        } else if (op instanceof Clip) {
            holds = data.isFloat() || isHeldByInt(data);
        } else if (op instanceof AvgPool2d || op instanceof MaxPool2d) {
            holds = data == DType.INT8 || data == DType.INT16 || data == DType.INT32 || data == DType.FLOAT32;
        } else if (op instanceof TflRequantize) {
            holds = isHeldByInt(data) || isLayer(binding, DType.INT64);
        } else if (op instanceof QnnRequantize) {
            holds = data == DType.INT8 || data == DType.INT32;
        } else if (op instanceof BiasAdd) {
            holds = isLayer(binding, DType.INT32) || isLayer(binding, DType.INT64) || isLayer(binding, DType.FLOAT32);
        }
        require(
                binding,
                holds,
                op.name() + " of this data, " + data.text() + ", is not supported",
                op instanceof BiasAdd
                        ? "the value of a convolution or dense layer that nothing else reads"
                        : "int8, or float32 where there is an operator for it");
    }

    private static boolean isHeldByInt(DType dtype) {
        return dtype.isInteger() && !dtype.isLong() && !dtype.isWideUnsigned();
    }

    /** Whether the data comes straight from a layer, of a type, and goes nowhere else. */
    private boolean isLayer(Binding binding, DType dtype) {
        if (!(binding.args().get(0) instanceof Arg.Ref ref) || !bindings.containsKey(ref.id())) {
            return false;
        }
        Binding source = bindings.get(ref.id());
        boolean layer = isAccumulator(source) || isQuantizedLayer(source.op()) || isRealLayer(source.op());
        boolean takesBias = !(source.op() instanceof BiasAdd || source.op() instanceof Accumulation);
        boolean fits = takesBias || !(binding.op() instanceof BiasAdd);
        boolean isAlone = dtype == DType.INT32 || uses.get(ref.id()) == 1;
        return layer && fits && source.type().dtype() == dtype && isAlone;
    }

    /** All arguments are constants but the data, weights and biases, the other side of a sum, and variables. */
    private void checkConstants(Binding binding) {
        boolean isHybrid = isQuantizedLayer(binding.op()) && dtype(binding, 0).isFloat();
        for (int i = 1; i < binding.args().size(); i++) {
            require(
                    binding,
                    binding.args().get(i) instanceof Constant
                            || binding.op().role(i) == Role.STATE
                            || (!isHybrid && binding.op().role(i) == Role.DATA),
                    "argument " + (i + 1) + " of " + binding.op().name() + " is not constant",
                    "a number, meta[relay.Constant][n] or a parameter of the .params file");
        }
    }

    private DType dtype(Binding binding, int index) {
        Arg arg = binding.args().get(index);
        return arg instanceof Constant constant
                ? constant.type().dtype()
                : types.get(((Arg.Ref) arg).id()).dtype();
    }

    private void require(Binding binding, boolean holds, String what, String expected) {
        if (!holds) {
            findings.add(places.get(binding.id()), what, expected, USE);
        }
    }
}
