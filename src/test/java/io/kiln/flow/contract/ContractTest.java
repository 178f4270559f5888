// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ModelIdentity;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.transport.Transport;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.contract.ContractStep.ContractSources;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.Interpreter;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The classes that {@code kiln:contract} writes compile, round as TensorFlow Lite does, and run a model on an image. */
class ContractTest {
    private static final String PACKAGE = "com.example.model";

    @TempDir
    private Path folder;

    private final KeptLog log = new KeptLog();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    @ParameterizedTest
    @ValueSource(strings = {"console", "rpc"})
    void aServiceRunsTheModelOnAnImage(String application) throws Exception {
        GestureProject project = new GestureProject(folder);
        BuildSpec spec = project.spec("host")
                .toolchain(Optional.of("host"))
                .application(application)
                .calls(Optional.empty(), true, Optional.empty(), false)
                .verify(GestureProject.UNVERIFIED)
                .build();
        flow.build(spec, DeviceSpec.USUAL);
        contract(spec, source(), PACKAGE, true);
        write("Service", """
            import io.kiln.device.transport.Transport;
            import java.time.Duration;
            import java.util.*;
            import java.util.function.BiFunction;

            public final class Service implements BiFunction<Transport, byte[], byte[]> {
                @Override
                public byte[] apply(Transport line, byte[] input) {
                    try (GestureClient client = GestureClient.OPEN(line, Duration.ofSeconds(20), text -> {})) {
                        List<byte[]> answer = client.runBytes(List.of(input));
                        List<float[]> again = client.run(List.of(GestureContract.INPUT_0.unpack(input)));
                        if (!Arrays.equals(GestureContract.OUTPUT_0.pack(again.get(0)), answer.get(0))) {
                            throw new IllegalStateException("real numbers answer differently");
                        }
                        client.exit();
                        return answer.get(0);
                    }
                }
            }
            """.replace("OPEN", application.equals("rpc") ? "overRpc" : "overConsole"));
        Function model = TfliteFrontend.read(Bytes.wrap(Files.readAllBytes(GestureProject.MODEL)), "m", "gesture");
        byte[] input = new byte[(int) model.params().get(0).type().bytes()];
        new Random(3).nextBytes(input);
        try (URLClassLoader loader = compile();
                Transport line = Emulator.of(Boards.builtIn().find("host"), Duration.ofMinutes(1))
                        .boot(project.out("gesture.elf"))) {
            BiFunction<Transport, byte[], byte[]> service = service(loader);
            assertThat(service.apply(line, input))
                    .isEqualTo(Interpreter.run(model, List.of(Bytes.wrap(input)))
                            .get(0)
                            .toArray());
        }
    }

    @Test
    void realNumbersAreRoundedAsTensorFlowLiteDoes() throws Exception {
        float scale = 0.037f;
        contract(new GestureProject(folder).spec("host").build(), source(), PACKAGE, false);
        write("Service", """
            import java.util.List;
            import java.util.function.BiFunction;

            public final class Service implements BiFunction<float[], String, byte[]> {
                @Override
                public byte[] apply(float[] reals, String type) {
                    KilnTensor tensor = new KilnTensor("x", type, List.of(1, reals.length), 0.037f, -5);
                    byte[] bytes = tensor.pack(reals);
                    if (!java.util.Arrays.equals(tensor.pack(tensor.unpack(bytes)), bytes)) {
                        throw new IllegalStateException("elements do not survive");
                    }
                    return bytes;
                }
            }
            """);
        float[] reals = new float[2000];
        Random random = new Random(5);
        for (int i = 0; i < reals.length; i++) {
            reals[i] = i % 3 == 0 ? (random.nextInt(600) - 300 + 0.5f) * scale : (float) random.nextGaussian() * 4;
        }
        try (URLClassLoader loader = compile()) {
            BiFunction<float[], String, byte[]> service = service(loader);
            byte[] packed = service.apply(reals, "int8");
            for (int i = 0; i < reals.length; i++) {
                int steps = new BigDecimal(reals[i] / scale)
                                .setScale(0, RoundingMode.HALF_UP)
                                .intValueExact()
                        - 5;
                assertThat(packed[i]).as("%s", reals[i]).isEqualTo((byte) Math.max(-128, Math.min(127, steps)));
            }
            assertThat(service.apply(new float[] {Float.NaN, 1e30f, -1e30f}, "int16"))
                    .containsExactly(0, 0x80, 0xFF, 0x7F, 0, 0x80);
        }
    }

    @Test
    void namesFromAFileAreNoCode() throws IOException {
        String hostile = "a\"+x() \\u002a/ */ @TENSORS@ @ \n\u00e9";
        TensorType type = new TensorType(Shape.of(2), DType.INT8);
        Function function = new Function(
                "hostile",
                List.of(new Parameter(0, hostile, type, Optional.empty())),
                List.of(new Binding(1, new Copy(), List.of(new Arg.Ref(0)), type, new Origin("m", 0, "", ""))),
                List.of(new Result(1, hostile + "2", Optional.empty())));
        CompileRequest request =
                RequestDraft.of(Path.of("m"), "c").name("hostile").build();
        ModelMetadata metadata =
                ModelCompiler.compile(request, function).library().metadata();
        ContractSources.Model model = new ContractSources.Model(hostile, new ModelIdentity(hostile, "00"), metadata);
        new ContractSources(PACKAGE, true)
                .files(List.of(model))
                .forEach((name, text) -> WholeFiles.write(source().resolve(name), text));
        try (URLClassLoader loader = compile()) {
            assertThat(loader.loadClass(PACKAGE + ".HostileContract")
                            .getField("FILE")
                            .get(null))
                    .isEqualTo(hostile);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    @Test
    void whatAnEarlierRunMadeIsDeletedAndOwnClassesStay() throws IOException {
        BuildSpec spec = new GestureProject(folder).spec("host").build();
        contract(spec, source(), PACKAGE, true);
        Path own = Files.writeString(source().resolve("com/example/model/Own.java"), "// mine");
        BuildSpec other = SpecDraft.of(spec)
                .models(List.of(new ModelSource(GestureProject.MODEL, "hand_movement")))
                .build();
        contract(other, source(), PACKAGE, false);
        try (Stream<Path> files = Files.list(own.getParent())) {
            assertThat(files.map(f -> f.getFileName().toString()))
                    .containsExactlyInAnyOrder("Own.java", "KilnTensor.java", "HandMovementContract.java");
        }
    }

    @Test
    void badNamesAreNamedTogetherBeforeAnythingIsWritten() {
        BuildSpec spec = new GestureProject(folder).spec("host").build();
        assertThatThrownBy(() -> contract(SpecDraft.of(spec).models(List.of()).build(), source(), "com.class", true))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("there is no model")
                .hasMessageContaining("`com.class` is not a valid package name");
        BuildSpec twice = SpecDraft.of(spec)
                .models(List.of(
                        new ModelSource(GestureProject.MODEL, "two_words"),
                        new ModelSource(GestureProject.MODEL, "TwoWords")))
                .build();
        assertThatThrownBy(() -> contract(twice, source(), PACKAGE, true))
                .hasMessageContaining("two models have classes named TwoWords");
        assertThat(source()).doesNotExist();
    }

    private void contract(BuildSpec spec, Path directory, String packageName, boolean withClients) {
        new ContractStep(log, spec).run(directory, packageName, withClients);
    }

    private Path source() {
        return folder.resolve("source");
    }

    private void write(String name, String text) {
        WholeFiles.write(
                source().resolve("com/example/model").resolve(name + ".java"), "package " + PACKAGE + ";\n" + text);
    }

    @SuppressWarnings("unchecked")
    private static <A, B> BiFunction<A, B, byte[]> service(URLClassLoader loader) throws ReflectiveOperationException {
        return (BiFunction<A, B, byte[]>)
                loader.loadClass(PACKAGE + ".Service").getConstructor().newInstance();
    }

    private URLClassLoader compile() throws IOException {
        Path classes = Files.createDirectory(folder.resolve("classes"));
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        List<Path> sources = new ArrayList<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
                Stream<Path> tree = Files.walk(source())) {
            tree.filter(Files::isRegularFile).forEach(sources::add);
            List<String> options = List.of(
                    "-proc:none",
                    "-Xlint:all",
                    "-Werror",
                    "--release",
                    "17",
                    "-d",
                    classes.toString(),
                    "-cp",
                    System.getProperty("java.class.path"));
            assertThat(compiler.getTask(
                                    messages, files, null, options, null, files.getJavaFileObjectsFromPaths(sources))
                            .call())
                    .as("%s", messages)
                    .isTrue();
        }
        return new URLClassLoader(
                new URL[] {classes.toUri().toURL()}, getClass().getClassLoader());
    }
}
