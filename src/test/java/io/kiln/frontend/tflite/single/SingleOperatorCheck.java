// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.Interpreter;
import io.kiln.target.TestTargets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Models of one operator with random shapes, types, quantization and options, answered by three: TensorFlow Lite's reference kernels
 * (the oracle), the reference interpreter on what the frontend made of the file, and the generated C on this machine under sanitizers. The
 * oracle decides with {@link TfliteRounding#LITE}; where the other rounding makes another function, its C is compared with the interpreter.
 *
 * <p>To add an operator, write how one case is drawn, in a class for its family, and list it in {@link SingleOperatorTest}:
 *
 * <pre>{@code
 * static final OperatorCases ADD = OperatorCases.of("ADD", d -> {
 *     byte type = d.oneOf(TensorType.INT8, TensorType.FLOAT32);
 *     int[] shape = d.shape(1, 5);
 *     int a = d.input(d.tensor(type, shape));                          // scale and zero point are drawn too
 *     int b = d.inputOrConstant(d.tensor(type, d.broadcastsTo(shape)));
 *     d.result(d.tensor(type));                                        // its shape follows; .quantized(scale, zeroPoint) where needed
 *     d.operator(BuiltinOperator.ADD, 2, Options.add(d.activation()), a, b);
 * });
 * }</pre>
 *
 * {@link io.kiln.frontend.tflite.Options#table} writes any options; {@link Draw#model()} is the whole writer of model files. What is
 * drawn must be valid for TensorFlow Lite and supported by Kiln: a refusal by either fails the test. Each case runs with five sets of
 * inputs, of which the last two have special floats and rows of equal elements, in one interpreter and one program, so that variables keep their values. Integers must be equal, ours and C's always; floats
 * within 1e-5 + 1e-4 |expected| + a millionth of the tensor's largest, for sums that cancel. {@code -Dkiln.cases=500} takes more cases,
 * {@code -Dkiln.seed=17} begins with another; a failing model is kept in {@code target/single-operator}.
 */
public final class SingleOperatorCheck {
    private static final Path KEPT = Path.of("target", "single-operator");
    private static final int ROUNDS = 5;
    /** TensorFlow Lite takes denormal numbers, which the last round has, for 0. */
    private static final int ROUNDS_OF_ORACLE = 4;

    private static final List<String> TARGETS =
            List.of(TestTargets.HOST, TestTargets.M4, TestTargets.M55, TestTargets.M0);

    private static final List<Optimize> FAVOURED = List.of(Optimize.SPEED, Optimize.RAM, Optimize.SIZE);

    private final OperatorCases operator;
    private final List<String> failures = new ArrayList<>();
    private final List<Prepared> prepared = new ArrayList<>();

    /** A case that the oracle and the reference interpreter have answered. */
    private record Prepared(
            long seed, Bytes model, List<List<Bytes>> inputs, List<List<Bytes>> ours, CompiledModel compiled) {
        List<TensorType> types() {
            Function function = compiled.imported();
            return function.results().stream()
                    .map(r -> function.types().get(r.id()))
                    .toList();
        }
    }

    private SingleOperatorCheck(OperatorCases operator) {
        this.operator = operator;
    }

    /**
     * Checks cases of operators, whose C becomes one program: starting compiler and linker takes longer than compiling an operator.
     *
     * @param operators how they are drawn; their names differ
     * @param firstSeed seed of the first case; the others follow
     * @param cases number of cases of each operator
     * @param folder an empty folder for the generated C
     * @return what is wrong, one text per finding, by the operator's name
     */
    public static Map<String, List<String>> check(
            List<OperatorCases> operators, long firstSeed, int cases, Path folder) {
        List<SingleOperatorCheck> checks =
                operators.stream().map(SingleOperatorCheck::new).toList();
        for (SingleOperatorCheck check : checks) {
            for (long seed = firstSeed; seed < firstSeed + cases; seed++) {
                check.prepare(seed);
            }
        }
        try {
            compareWithC(checks, folder.resolve("all"));
        } catch (AssertionError together) {
            checks.forEach(check -> check.compareAlone(together, folder));
        }
        return checks.stream().collect(Collectors.toMap(check -> check.operator.name(), check -> check.failures));
    }

    /** A program that does not compile, or that stops, does not say whose fault it is. */
    private void compareAlone(AssertionError together, Path folder) {
        try {
            compareWithC(List.of(this), folder.resolve(operator.name()));
            failures.add("beside other operators, perhaps because of one of them: " + together.getMessage());
        } catch (AssertionError alone) {
            failures.add(String.valueOf(alone.getMessage()));
        }
    }

    private void prepare(long seed) {
        Draw draw = new Draw(seed);
        operator.draw().accept(draw);
        Bytes model = Bytes.wrap(draw.build());
        List<List<Bytes>> inputs = draw.rounds(ROUNDS);
        try {
            List<List<TfliteOracle.Output>> expected = operator.hasOracle()
                    ? TfliteOracle.runAll(model.toArray(), inputs.subList(0, ROUNDS_OF_ORACLE))
                    : List.of();
            String name = operator.name().toLowerCase(Locale.ROOT) + seed;
            Function micro = function(model, name, TfliteRounding.MICRO);
            Function lite = operator.hasOracle() ? function(model, name + "_lite", TfliteRounding.LITE) : micro;
            boolean isSame = text(micro, name).equals(text(lite, name));
            Prepared one = prepared(seed, model, inputs, isSame ? micro : lite);
            compareWithOracle(one, expected);
            if (!isSame) {
                prepared(seed, model, inputs, micro);
                if (operator.kernels() != OperatorCases.Kernels.ROUNDED_OTHERWISE) {
                    fail(seed, model, "it depends on the rounding and does not say so");
                }
            }
        } catch (KilnException | TfliteOracle.RefusedException e) {
            fail(seed, model, e.getMessage());
        }
    }

    private static Function function(Bytes model, String name, TfliteRounding rounding) {
        Function function =
                TfliteFrontend.read(model, name + ".tflite", name, InputShapes.NONE, CustomOperators.NONE, rounding);
        Verifier.verify(function);
        return function;
    }

    /** What a function computes, whatever it is called. */
    private static String text(Function function, String name) {
        return RelayPrinter.astext(function).replace(name + "_lite", name);
    }

    private Prepared prepared(long seed, Bytes model, List<List<Bytes>> inputs, Function function) {
        Interpreter.State state = Interpreter.State.initial(function);
        List<List<Bytes>> ours = inputs.stream()
                .map(each -> Interpreter.run(function, each, state))
                .toList();
        CompiledModel compiled = ModelCompiler.compile(request(seed, function.name()), function);
        prepared.add(new Prepared(seed, model, inputs, ours, compiled));
        return prepared.get(prepared.size() - 1);
    }

    /** Targets and what is optimized for take turns. */
    private static CompileRequest request(long seed, String name) {
        String target = TARGETS.get(Math.floorMod(seed, TARGETS.size()));
        Optimize optimize = FAVOURED.get(Math.floorMod(seed / TARGETS.size(), FAVOURED.size()));
        return RequestDraft.of(Path.of(name + ".tflite"), target)
                .name(name)
                .optimize(optimize)
                .build();
    }

    private void compareWithOracle(Prepared one, List<List<TfliteOracle.Output>> expected) {
        for (int round = 0; round < expected.size(); round++) {
            for (int i = 0; i < one.types().size(); i++) {
                TfliteOracle.Output output = expected.get(round).get(i);
                TensorType type = one.types().get(i);
                String what = type.shape().dims().equals(output.shape())
                        ? Agreement.differenceFromOracle(
                                type.dtype(),
                                output.data(),
                                one.ours().get(round).get(i))
                        : "shape is " + type.shape() + ", not " + output.shape();
                if (!what.isEmpty()) {
                    fail(
                            one.seed(),
                            one.model(),
                            "against TensorFlow Lite, round " + round + ", output " + i + ": " + what);
                }
            }
        }
    }

    /** Every check's cases in turn, in rounds, so that variables keep their values. */
    private static void compareWithC(List<SingleOperatorCheck> checks, Path folder) {
        List<Prepared> all = checks.stream().flatMap(c -> c.prepared.stream()).toList();
        if (all.isEmpty()) {
            return;
        }
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        for (Prepared one : all) {
            models.add(one.compiled().library().metadata());
            artifacts.add(one.compiled().library().artifacts().artifacts());
        }
        List<Bytes> inputs = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            for (Prepared one : all) {
                inputs.addAll(one.inputs().get(round));
            }
        }
        ByteBuffer answers =
                HostProgram.build(folder, models, artifacts).run(inputs).buffer();
        for (int round = 0; round < ROUNDS; round++) {
            for (SingleOperatorCheck check : checks) {
                for (Prepared one : check.prepared) {
                    check.compareWithC(one, round, answers);
                }
            }
        }
    }

    private void compareWithC(Prepared one, int round, ByteBuffer answers) {
        for (int i = 0; i < one.types().size(); i++) {
            Bytes ours = one.ours().get(round).get(i);
            byte[] answer = new byte[ours.size()];
            answers.get(answer);
            String what = Agreement.difference(one.types().get(i).dtype(), ours, Bytes.wrap(answer));
            if (!what.isEmpty()) {
                fail(one.seed(), one.model(), "C against the interpreter, round " + round + ": " + what);
            }
        }
    }

    private void fail(long seed, Bytes model, String what) {
        Path file = KEPT.resolve(operator.name() + "-" + seed + ".tflite");
        try {
            Files.createDirectories(KEPT);
            Files.write(file, model.toArray());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        failures.add(file + ": " + what);
    }
}
