// SPDX-License-Identifier: Apache-2.0
package io.kiln.operators;

import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.onnx.ImportedFunctions;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.frontend.relay.rule.Rules;
import io.kiln.frontend.tflite.VelaModel;
import io.kiln.frontend.tflite.single.OperatorCases;
import io.kiln.frontend.tflite.single.SingleOperatorTest;
import io.kiln.frontend.tflite.write.WrittenOperators;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Operators;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.FusedOperator;
import io.kiln.quantize.plan.IntegerOperators;
import io.kiln.reference.Interpreter;
import io.kiln.schedule.Dispatch;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import io.kiln.tir.Stmt;
import io.kiln.transform.Pipeline;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Which place knows which operator. Places that register operators are asked for them; of the others, models of every
 * operator show what becomes of it.
 */
final class OperatorPlaces {
    private static final int SEEDS = 12;

    /** Operators that neither TensorFlow Lite nor ONNX has. */
    private static final String RELAY_ONLY = """
        def @main(%w: Tensor[(1, 8), int32], %f: Tensor[(8), float32]) {
          %0 = fixed_point_multiply(%w, multiplier=1073741824, shift=-2);
          %1 = tfl.custom(%f, code="MyOp", function="my_op", header="", inputs=1, outputs=1, shape=[8], out_dtype="float32");
          (%0, %1)
        }
        """;

    private final Map<String, Set<Place>> filled = new TreeMap<>();

    private OperatorPlaces() {
        Operators.ALL.forEach(signature -> filled.put(signature.name(), EnumSet.noneOf(Place.class)));
    }

    /** The places that know each operator, by its name. */
    static Map<String, Set<Place>> all() {
        List<Function> tflite = SingleOperatorTest.operators()
                .flatMap(OperatorPlaces::functions)
                .toList();
        List<Function> velas = List.of(VelaModel.mixed(VelaModel.U55_128).read());
        List<Function> onnx = ImportedFunctions.all().toList();
        Function relay = RelayFrontend.read(Bytes.ofText(RELAY_ONLY), "m.relay", Optional.empty(), "m.params", "m");
        OperatorPlaces places = new OperatorPlaces();
        places.registered();
        places.imported(tflite, Place.TFLITE_READER);
        places.imported(velas, Place.TFLITE_READER);
        places.imported(onnx, Place.ONNX_READER);
        Stream.of(tflite, velas, onnx, List.of(relay)).flatMap(List::stream).forEach(places::seen);
        places.fast(Stream.of(tflite, onnx)
                .flatMap(List::stream)
                .filter(function -> function.functions().isEmpty())
                .flatMap(function -> FusedOperator.all(Pipeline.standard().run(function), "f").stream())
                .toList());
        return places.filled;
    }

    private static Stream<Function> functions(OperatorCases operator) {
        List<TfliteRounding> roundings = operator.kernels() == OperatorCases.Kernels.ROUNDED_OTHERWISE
                ? List.of(TfliteRounding.values())
                : List.of(TfliteRounding.MICRO);
        return roundings.stream()
                .flatMap(rounding ->
                        LongStream.range(0, SEEDS).mapToObj(seed -> operator.function(seed, rounding, "case")));
    }

    private void fill(String operator, Place place, boolean isKnown) {
        if (isKnown) {
            filled.get(operator).add(place);
        }
    }

    private void registered() {
        for (Signature<? extends Op> signature : Operators.ALL) {
            String name = signature.name();
            boolean isLayer = Layer.class.isAssignableFrom(signature.type());
            fill(name, Place.INTERPRETER, Interpreter.operators().contains(signature.type()));
            fill(name, Place.C, isLayer || Dispatch.operators().contains(signature.type()));
            fill(name, Place.RELAY_READER, Rules.of(name).isPresent());
            fill(name, Place.LAYOUT, signature.traits().contains(Trait.ELEMENTWISE));
        }
    }

    private void imported(List<Function> functions, Place reader) {
        functions.stream()
                .flatMap(OperatorPlaces::withCalled)
                .flatMap(function -> function.bindings().stream())
                .forEach(binding -> fill(binding.op().name(), reader, true));
    }

    private static Stream<Function> withCalled(Function function) {
        return Stream.concat(Stream.of(function), function.functions().stream().flatMap(OperatorPlaces::withCalled));
    }

    private void seen(Function function) {
        Map<Integer, TensorType> types = function.types();
        for (Binding binding : function.bindings()) {
            Op op = binding.op();
            List<TensorType> args = binding.args().stream()
                    .map(arg -> arg instanceof Constant constant ? constant.type() : types.get(((Arg.Ref) arg).id()))
                    .toList();
            fill(
                    op.name(),
                    Place.RELAY_WRITER,
                    Rules.of(op.spelling(args).name()).isPresent());
            fill(op.name(), Place.TFLITE_WRITER, WrittenOperators.has(op));
        }
        IntegerOperators.of(function).forEach(name -> fill(name, Place.QUANTIZER, true));
        MovedTransposes.past(function, name -> !filled.get(name).contains(Place.LAYOUT))
                .forEach(name -> fill(name, Place.LAYOUT, true));
    }

    /** A kernel that the loops for this computer call, too, is C, and not written for a core. */
    private void fast(List<FusedOperator> operators) {
        Dispatch host = new Dispatch(Target.parse(TestTargets.HOST), Optimize.SPEED);
        for (Place place : Place.values()) {
            place.core().ifPresent(core -> {
                Dispatch dispatch = new Dispatch(Target.parse(core), Optimize.SPEED);
                for (FusedOperator operator : operators) {
                    String name = operator.root().op().name();
                    Set<String> kernels = filled.get(name).contains(place) ? Set.of() : kernels(dispatch, operator);
                    fill(
                            name,
                            place,
                            !kernels.isEmpty() && !kernels(host, operator).containsAll(kernels));
                }
            });
        }
    }

    private static Set<String> kernels(Dispatch dispatch, FusedOperator operator) {
        Set<String> kernels = new HashSet<>();
        collect(dispatch.lower(operator).function().body(), kernels);
        return kernels;
    }

    private static void collect(Stmt stmt, Set<String> kernels) {
        if (stmt instanceof Stmt.Block block) {
            block.statements().forEach(each -> collect(each, kernels));
        } else if (stmt instanceof Stmt.For loop) {
            collect(loop.body(), kernels);
        } else if (stmt instanceof Stmt.If branch) {
            collect(branch.then(), kernels);
            branch.otherwise().ifPresent(each -> collect(each, kernels));
        } else if (stmt instanceof Stmt.CallKernel call) {
            kernels.add(call.kernel().name());
        }
    }
}
