// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.firmware.TrustedArchives;
import io.kiln.flow.resolve.CmsisNnArtifact;
import io.kiln.flow.resolve.SourceArchives;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.partition.CmsisNnStandIn;
import io.kiln.reference.OwnModel;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Images whose layers are computed by CMSIS-NN's functions, for which stand-ins of the same arithmetic are compiled. */
final class CmsisNnFlowTest extends ArchiveProject {
    @ParameterizedTest
    @CsvSource({
        "host, host, 7.0.0, 'cmsis-nn, c'",
        "mps2-an385, clang, 7.0.0, 'cmsis-nn, c -mcpu=cortex-m3'",
        "mps2-an386, clang, 6.0.0, 'cmsis-nn -version=6.0.0 -mcpu=cortex-m4, llvm'",
        "mps2-an386, clang, 6.0.0, 'cmsis-nn -version=6.0.0, c -mcpu=cortex-m4'",
        "mps3-an547, clang, 7.0.0, 'cmsis-nn -mcpu=cortex-m55, c -mcpu=cortex-m55'",
        "mps3-an547, clang, 4.1.0, 'cmsis-nn -version=4.1.0, c -mcpu=cortex-m55'",
    })
    void modelsAnswerBitExact(String board, String toolchain, String version, String target) throws IOException {
        assumeRunnable(board, toolchain);
        List<ModelSource> models = Stream.of(
                        OwnModel.SINE, OwnModel.KEYWORDS, OwnModel.SUMS, OwnModel.WIDE_CONV, OwnModel.WIDE_SUM)
                .filter(model -> model != OwnModel.SUMS || board.equals("host"))
                .map(OwnModel::source)
                .toList();
        flow.build(spec(board, toolchain, models, target, standIn(version)), DeviceSpec.USUAL);

        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
        assertThat(json("kiln/verify.json").path("cases")).hasSize(models.size());
        String called = Files.readString(folder.resolve("out/firmware/codegen/host/src/keywords_lib2.c"));
        assertThat(called)
                .contains("int32_t tvmgen_keywords_cmsis_nn_main_11(")
                .contains("arm_softmax_s8(")
                .contains("if (status != ARM_CMSIS_NN_SUCCESS) {\n    return -1;");
        assertThat(folder.resolve("out/firmware/codegen/host/src/wide_conv_lib2.c"))
                .content()
                .contains("arm_convolve_wrapper_s16(");
        assertThat(folder.resolve("out/firmware/codegen/host/src/wide_sum_lib2.c"))
                .content()
                .contains("arm_elementwise_add_s16(");
        assertThat(Files.readString(folder.resolve("out/generated-sources/kiln/metadata.json")))
                .contains("\"short_name\": \"cmsis-nn\"", "\"version_spec\": \"" + version.charAt(0) + ".");
        assertThat(folder.resolve("out/firmware/cmsis-nn/Source/SoftmaxFunctions/arm_softmax_s8.c"))
                .exists();
        assertThat(folder.resolve("out/firmware/cmsis-nn/Source/SoftmaxFunctions/arm_softmax_s16.c"))
                .doesNotExist();
        assertThat(folder.resolve("out/firmware/cmsis-nn/Source/ActivationFunctions"))
                .doesNotExist();
    }

    @Test
    void anErrorOfCmsisNnEndsTheRun() throws IOException {
        assumeRunnable("host", "host");
        Path sources = standIn("7.0.0");
        Path softmax = sources.resolve("Source/PoolingFunctions/arm_avgpool_s8.c");
        String good = Files.readString(softmax);
        Files.writeString(softmax, good.replace("return ARM_CMSIS_NN_SUCCESS;", "return ARM_CMSIS_NN_ARG_ERROR;"));
        BuildSpec spec = spec(
                "host", "host", List.of(new ModelSource(OwnModel.KEYWORDS.model(), "kws")), "cmsis-nn, c", sources);
        assertThatThrownBy(() -> flow.build(spec, DeviceSpec.USUAL))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the model returned error -1");
    }

    /** An archive whose C calls CMSIS-NN is built where there is nothing but an artifact of CMSIS-NN's sources. */
    @Test
    void anArchiveThatCallsCmsisNnIsBuiltAgain() throws IOException {
        assumeRunnable("host", "host");
        Path sources = standIn("7.0.0");
        List<ModelSource> models = List.of(new ModelSource(OwnModel.SINE.model(), "sine"));
        flow.build(spec("host", "host", models, "cmsis-nn, c", sources), DeviceSpec.USUAL);
        Path archive = Files.move(folder.resolve("out/net-mlf.tar"), folder.resolve("sine.tar"));
        Path vectors = Files.createDirectory(folder.resolve("vectors"));
        for (String file : List.of("input_0.bin", "output_0.bin")) {
            Files.copy(OwnModel.SINE.folder().resolve(file), vectors.resolve(file));
        }
        BuildSpec again = SpecDraft.of(
                        new Layout(folder, folder.resolve("again"), "net"),
                        List.of(new ModelSource(archive, "sine")),
                        "host")
                .toolchain(Optional.of("host"))
                .codegens(new CodegenSpec(Optional.empty(), Optional.of(artifact(sources))))
                .trustedArchives(TrustedArchives.parse("sine.tar"))
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.of(vectors), 1, 0))
                .build();
        flow.build(again, DeviceSpec.USUAL);
        assertThat(folder.resolve("again/kiln/verify.json")).content().contains("\"bitExact\" : true");
        assertThat(folder.resolve("again/firmware/cmsis-nn/Source/FullyConnectedFunctions/arm_fully_connected_s8.c"))
                .exists();
    }

    /** A copy in the tree of another project includes its headers by their path there; the folders may be links. */
    @Test
    void aCopyInAnotherProjectIsCompiled() throws IOException {
        assumeRunnable("host", "host");
        Path copy = standIn("7.0.0");
        try (Stream<Path> files = Files.walk(copy)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.writeString(
                        file,
                        Files.readString(file)
                                .replace("#include \"arm_", "#include \"third_party/cmsis_nn/Include/arm_"));
            }
        }
        Path linked = Files.createDirectories(folder.resolve("linked"));
        for (String part : List.of("Include", "Source")) {
            Files.createSymbolicLink(linked.resolve(part), copy.resolve(part));
        }
        List<ModelSource> models = List.of(new ModelSource(OwnModel.SINE.model(), "sine"));
        flow.build(spec("host", "host", models, "cmsis-nn, c", linked), DeviceSpec.USUAL);
        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
    }

    /** The folder of an artifact with these sources, as {@code kiln.cmsisNn=com.example:cmsis-nn:7.0.0:tar.gz} names it. */
    private Path artifact(Path sources) throws IOException {
        Path published = SourceArchives.tarGz(
                folder.resolve("published.tar.gz"), SourceArchives.below(sources, "CMSIS-NN-7.0.0/"));
        return CmsisNnArtifact.folder(
                "com.example:cmsis-nn:7.0.0:tar.gz",
                folder,
                new ToolchainEnvironment(
                        folder.resolve("home"),
                        List.of(),
                        (group, name, version, classifier, extension) -> published,
                        Log.QUIET));
    }

    @Test
    void withoutSourcesTheBuildSaysWhatIsMissing() {
        BuildSpec spec = SpecDraft.of(
                        new Layout(folder, folder.resolve("out"), "net"),
                        List.of(new ModelSource(OwnModel.SINE.model(), "sine")),
                        "host")
                .codegens(new CodegenSpec(Optional.of("cmsis-nn, c"), Optional.empty()))
                .build();
        assertThatThrownBy(() -> flow.build(spec, DeviceSpec.USUAL))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the models call CMSIS-NN, whose sources are not there")
                .hasMessageContaining(
                        "Set kiln.cmsisNn to the folder, or to group:artifact:version of an archive with them");
    }

    private Path standIn(String version) throws IOException {
        return CmsisNnStandIn.copy(folder.resolve("cmsis"), version);
    }

    private BuildSpec spec(String board, String toolchain, List<ModelSource> models, String target, Path sources) {
        return SpecDraft.of(new Layout(folder, folder.resolve("out"), "net"), models, board)
                .toolchain(Optional.of(toolchain))
                .codegens(new CodegenSpec(Optional.of(target), Optional.of(sources)))
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 1, 0))
                .build();
    }
}
