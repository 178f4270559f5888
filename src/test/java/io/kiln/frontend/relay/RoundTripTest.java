// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Variable;
import io.kiln.ir.Verifier;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.OwnModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is printed is read again as the same function, and makes the same files. */
class RoundTripTest {
    @TempDir
    private Path folder;

    static Stream<Path> golden() {
        return GoldenModels.all().stream().map(GoldenModels::model);
    }

    static Stream<Path> own() {
        return Stream.of(OwnModel.values()).map(OwnModel::model);
    }

    @ParameterizedTest
    @MethodSource("golden")
    @NeedsShared("golden")
    void theSameFunctionComesBackOfGoldenModels(Path model) throws IOException {
        theSameFunctionComesBack(model);
    }

    @ParameterizedTest
    @MethodSource("own")
    void theSameFunctionComesBack(Path model) throws IOException {
        Function printed = TfliteFrontend.read(model, "default");
        Path text = folder.resolve("model.relay");
        Files.writeString(text, RelayPrinter.astext(printed));

        Function read = RelayFrontend.read(text, "default");

        assertThat(read).isEqualTo(printed);
        Verifier.verify(read);
        assertThat(RelayPrinter.astext(read)).isEqualTo(Files.readString(text));
    }

    @ParameterizedTest
    @MethodSource("golden")
    @NeedsShared("golden")
    void theSameFilesAreGeneratedOfGoldenModels(Path model) throws IOException {
        theSameFilesAreGenerated(model);
    }

    @ParameterizedTest
    @MethodSource("own")
    void theSameFilesAreGenerated(Path model) throws IOException {
        Path text = folder.resolve("model.relay");
        Files.writeString(text, RelayPrinter.astext(TfliteFrontend.read(model, "default")));

        CompileRequest ofText = request(text);
        CompileRequest ofModel = request(model);

        assertThat(sources(ModelCompiler.compile(ofText))).isEqualTo(sources(ModelCompiler.compile(ofModel)));
    }

    @ParameterizedTest
    @MethodSource("golden")
    @NeedsShared("golden")
    void constantsMayComeFromTheParametersFileOfGoldenModels(Path model) {
        constantsMayComeFromTheParametersFile(model);
    }

    @ParameterizedTest
    @MethodSource("own")
    void constantsMayComeFromTheParametersFile(Path model) {
        Function printed = TfliteFrontend.read(model, "default");
        List<NamedTensor> params = new ArrayList<>();
        Bytes text = Bytes.ofText(withParameters(printed, params));

        Function read =
                RelayFrontend.read(text, "m.relay", Optional.of(ParameterFile.write(params)), "m.params", "default");

        assertThat(text.text()).doesNotContain("meta[relay.Constant][");
        assertThat(anonymous(read)).isEqualTo(anonymous(printed));
    }

    /** All files; only the model's own name, in their headings, may differ. */
    private static Map<String, String> sources(CompiledModel model) {
        return model.library().artifacts().artifacts().stream()
                .collect(Collectors.toMap(
                        Artifact::fileName, a -> a.content().text().replaceAll("model\\.(relay|tflite)", "the model")));
    }

    /** The text with its metadata's constants as parameters of {@code @main}. */
    private static String withParameters(Function function, List<NamedTensor> params) {
        String text = RelayPrinter.print(function);
        StringBuilder header = new StringBuilder();
        List<Constant> constants = Stream.concat(
                        function.variables().stream().map(v -> new Constant(v.name(), v.type(), v.initial())),
                        function.bindings().stream()
                                .flatMap(b -> b.args().stream())
                                .filter(Constant.class::isInstance)
                                .map(Constant.class::cast))
                .filter(c -> c.type().shape().rank() > 0)
                .toList();
        for (Constant constant : constants) {
            String name = "p" + params.size();
            text = text.replace("meta[relay.Constant][" + params.size() + "]", "%" + name);
            header.append('%')
                    .append(name)
                    .append(": ")
                    .append(constant.type().text())
                    .append(", ");
            params.add(new NamedTensor(
                    name, constant.type().dtype(), constant.type().shape().dims(), constant.data()));
        }
        return text.replace("mod_name=", header + "mod_name=");
    }

    private static Function anonymous(Function function) {
        Function unnamed = function.withVariables(function.variables().stream()
                .map(v -> new Variable(v.id(), "", v.type(), v.initial()))
                .toList());
        return unnamed.withBindings(function.bindings().stream()
                .map(b -> new Binding(
                        b.id(),
                        b.op(),
                        b.args().stream()
                                .map(a -> a instanceof Constant c ? new Constant("", c.type(), c.data()) : a)
                                .toList(),
                        b.type(),
                        b.origin()))
                .toList());
    }

    private static CompileRequest request(Path model) {
        return RequestDraft.of(model, "c -keys=arm_cpu,cpu -mcpu=cortex-m4").build();
    }
}
