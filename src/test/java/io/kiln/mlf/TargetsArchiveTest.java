// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.WholeFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Archives with files for several targets. */
class TargetsArchiveTest {
    private static final String NPU = "cmsis-nn -mcpu=cortex-m55";

    @TempDir
    private Path folder;

    @Test
    void eachTargetHasItsFolderAndSurvives() {
        Artifact object = new Artifact("npu", "native", "kws_lib2.o", Bytes.ofText("object"), "left");
        ModelLibrary library = library(
                object,
                object.withTargetKey("right"),
                new Artifact("npu", "stream", "kws_stream.bin", Bytes.ofText("stream"), "right"));
        Path tar = folder.resolve("kws.tar");
        WholeFiles.write(tar, write(library, 7).toArray());
        SortedMap<String, Bytes> files = ModelLibraryFormat.files(tar);
        assertThat(files)
                .containsKeys(
                        "codegen/host/src/kws_lib0.c",
                        "codegen/left/lib/kws_lib2.o",
                        "codegen/right/lib/kws_lib2.o",
                        "codegen/right/stream/kws_stream.bin");
        assertThat(files.get("metadata.json").text().replaceAll("\\s+", " "))
                .contains("\"target_keys\": { \"host\": \"" + WrittenModel.TARGET + "\", \"left\": \"" + NPU
                        + "\", \"right\": \"" + NPU + "\" }")
                .contains("\"target\": [ \"" + WrittenModel.TARGET + "\", \"" + NPU + "\", \"" + NPU + "\" ]");
        ModelLibrary read = ModelLibraryFormat.read(tar).get(0);
        assertThat(read.metadata().target()).isEqualTo(WrittenModel.TARGET);
        assertThat(read.artifacts().targets()).isEqualTo(library.artifacts().targets());
        assertThat(read.artifacts().of(ArtifactKind.PAYLOAD)).singleElement().satisfies(stream -> {
            assertThat(stream.loader()).isEqualTo("stream");
            assertThat(stream.targetKey()).isEqualTo("right");
        });
        assertThat(read.artifacts().of(ArtifactKind.OBJECT).stream().map(ArchivePaths::of))
                .containsExactly("codegen/left/lib/kws_lib2.o", "codegen/right/lib/kws_lib2.o");
        assertThat(ModelLibraryFormat.write(
                        List.of(new ModelLibrary(read.metadata(), read.artifacts(), Optional.empty())), options(7)))
                .isEqualTo(write(library, 7));
    }

    @Test
    void version5HoldsOneTarget() {
        ModelLibrary library = library(new Artifact("npu", "native", "x.o", Bytes.ofText(""), "left"));
        assertThatThrownBy(() -> write(library, 5))
                .hasMessageContaining("version 5 of the Model Library Format cannot hold files for several targets")
                .hasMessageContaining("7 for the targets host, left, right");
    }

    @Test
    void aLoaderCannotHaveTheNameOfAFolder() {
        ModelLibrary library = library(new Artifact("npu", "lib", "x.o", Bytes.ofText(""), "left"));
        assertThatThrownBy(() -> write(library, 7))
                .hasMessageContaining("x.o of code generator `npu`: the loader `lib` has the name of a folder");
    }

    private static ModelLibrary library(Artifact... more) {
        ModelLibrary written = WrittenModel.library("kws");
        List<Artifact> artifacts = new ArrayList<>(written.artifacts().artifacts());
        artifacts.addAll(List.of(more));
        return new ModelLibrary(
                written.metadata(),
                ArtifactSet.of(artifacts, Map.of("host", WrittenModel.TARGET, "left", NPU, "right", NPU)));
    }

    private static Bytes write(ModelLibrary library, int version) {
        return ModelLibraryFormat.write(List.of(library), options(version));
    }

    private static ModelLibraryFormat.Options options(int version) {
        return ModelLibraryFormat.Options.of(version, Optional.empty(), "0.1.0");
    }
}
