// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.Verifier;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import io.kiln.reference.Interpreter;
import io.kiln.target.TestTargets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A changed model that was accepted: what the reference interpreter answers, and the C.
 *
 * @param seed which one it is
 * @param file the changed model
 * @param compiled its C and what was imported
 * @param inputs of one run
 * @param expected the interpreter's answers
 */
record MutatedModel(long seed, Bytes file, CompiledModel compiled, List<Bytes> inputs, List<Bytes> expected) {
    /** Larger ones are valid, but take long to interpret and to compile. */
    private static final long MOST_BYTES = 1 << 16;

    private static final long MOST_MACS = 1 << 20;
    private static final int MOST_ITERATIONS = 1000;

    private static final List<String> TARGETS =
            List.of(TestTargets.HOST, TestTargets.M4, TestTargets.M55, TestTargets.M0, TestTargets.RV32);

    private static final List<Optimize> FAVOURED = List.of(Optimize.values());

    /**
     * Imports, interprets and compiles.
     *
     * @return empty if the model is too large to go on with
     * @throws io.kiln.base.KilnException if the model is refused
     */
    static Optional<MutatedModel> of(long seed, Bytes file) {
        String name = "m" + seed;
        Function function = read(seed, file, name);
        Verifier.verify(function);
        if (isLarge(function)) {
            return Optional.empty();
        }
        List<Bytes> inputs = new ArrayList<>();
        for (Parameter parameter : function.params()) {
            inputs.add(RandomOperators.input(parameter.type(), seed * 31 + inputs.size()));
        }
        Interpreter.State state = Interpreter.State.initial(function, MOST_ITERATIONS, new ConstantFolder(0));
        List<Bytes> expected = Interpreter.run(function, inputs, state);
        CompileRequest request = RequestDraft.of(Path.of(name + ".tflite"), TARGETS.get((int) (seed % TARGETS.size())))
                .name(name)
                .io(seed % 3 == 0 ? Io.WORKSPACE : Io.CALLER)
                .optimize(FAVOURED.get((int) (seed / TARGETS.size() % FAVOURED.size())))
                .build();
        return Optional.of(new MutatedModel(seed, file, ModelCompiler.compile(request, function), inputs, expected));
    }

    /** Every second time with the shape of the first input given, so that others follow from it instead of being compared. */
    static Function read(long seed, Bytes file, String name) {
        String fileName = name + ".tflite";
        if (seed % 2 == 0) {
            return TfliteFrontend.read(file, fileName, name);
        }
        Optional<Map.Entry<String, Shape>> first = WritableModel.firstInput(file);
        return TfliteFrontend.read(
                file,
                fileName,
                name,
                first.map(Map::ofEntries).map(InputShapes::new).orElse(InputShapes.NONE));
    }

    private static boolean isLarge(Function function) {
        long bytes = Stream.concat(
                        function.params().stream().map(Parameter::type),
                        Stream.concat(Stream.of(function), function.functions().stream())
                                .flatMap(f -> f.bindings().stream())
                                .map(Binding::type))
                .mapToLong(TensorType::bytes)
                .sum();
        long macs = function.bindings().stream().mapToLong(Binding::macs).sum();
        return bytes > MOST_BYTES || macs > MOST_MACS;
    }
}
