// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.mlf.MetadataJson.PythonJson;
import io.kiln.mlf.ModelLibraryFormat.Options;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelLibraryFormatTest {
    private static final Options V5 = Options.of(5, Optional.empty(), "0.1.0");
    private static final Options V7 = Options.of(7, Optional.of(Instant.parse("2026-02-03T04:05:06.789Z")), "0.1.0");

    @TempDir
    private Path folder;

    @Test
    void version5HasItsTreeInOrder() throws IOException {
        Map<String, TarArchiveEntry> entries =
                entries(ModelLibraryFormat.write(List.of(WrittenModel.library("kws")), V5));

        assertThat(List.copyOf(entries.keySet()))
                .isSorted()
                .contains(
                        "./codegen/",
                        "./codegen/host/include/tvmgen_kws.h",
                        "./codegen/host/src/kws_lib0.c",
                        "./codegen/host/src/kws_lib1.c",
                        "./metadata.json",
                        "./parameters/kws.params",
                        "./runtime/include/tvm/runtime/crt/platform.h",
                        "./runtime/src/runtime/crt/memory/stack_allocator.c",
                        "./src/relay.txt",
                        "./templates/crt_config.h.template",
                        "./templates/platform.c.template");
        assertThat(entries.values()).allSatisfy(entry -> {
            assertThat(entry.getLongUserId()).isZero();
            assertThat(entry.getLongGroupId()).isZero();
            assertThat(entry.getUserName()).isEqualTo("root");
            assertThat(entry.getGroupName()).isEqualTo("root");
            assertThat(entry.getMode() & 0777).isEqualTo(entry.isDirectory() ? 0755 : 0644);
            assertThat(entry.getLastModifiedTime().toInstant()).isEqualTo(Instant.parse("1980-01-01T00:00:00Z"));
            assertThat(entry.getExtraPaxHeaders()).isEmpty();
        });
    }

    @Test
    void version5MetadataHasEveryKey() throws IOException {
        assertThat(member(ModelLibraryFormat.write(List.of(WrittenModel.library("kws")), V5), "./metadata.json"))
                .isEqualTo(WrittenModel.metadata(
                                0, "{\n    \"1\": \"" + WrittenModel.TARGET + "\"\n  }", "1980-01-01 00:00:00Z")
                        .replace("\n}", ",\n  \"version\": 5\n}"));
    }

    @Test
    void version7MetadataHasModules() throws IOException {
        String json = member(ModelLibraryFormat.write(List.of(WrittenModel.library("kws")), V7), "./metadata.json");

        assertThat(json)
                .isEqualTo("{\n  \"modules\": {\n    \"kws\": "
                        + WrittenModel.metadata(
                                4, "[\n        \"" + WrittenModel.TARGET + "\"\n      ]", "2026-02-03 04:05:06Z")
                        + "\n  },\n  \"version\": 7\n}");
    }

    @Test
    void version7HoldsSeveralModels() throws IOException {
        Map<String, TarArchiveEntry> entries = entries(
                ModelLibraryFormat.write(List.of(WrittenModel.library("kws"), WrittenModel.library("vww")), V7));

        assertThat(entries)
                .containsKeys("./src/kws.relay", "./src/vww.relay", "./parameters/vww.params")
                .doesNotContainKey("./src/relay.txt");
        assertThatThrownBy(() ->
                        ModelLibraryFormat.write(List.of(WrittenModel.library("kws"), WrittenModel.library("vww")), V5))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("Set kiln.mlfVersion to 7");
        assertThatThrownBy(() ->
                        ModelLibraryFormat.write(List.of(WrittenModel.library("kws"), WrittenModel.library("kws")), V7))
                .hasMessageContaining("two models are named `kws`");
        assertThatThrownBy(() -> Options.of(6, Optional.empty(), "x")).hasMessageContaining("expected 5 or 7");
    }

    @Test
    void theSameInputGivesTheSameBytes() {
        assertThat(ModelLibraryFormat.write(List.of(WrittenModel.library("a"), WrittenModel.library("b")), V7))
                .isEqualTo(ModelLibraryFormat.write(List.of(WrittenModel.library("a"), WrittenModel.library("b")), V7));
    }

    @Test
    void whatIsWrittenReadsBack() throws IOException {
        for (Options options : List.of(V5, V7)) {
            ModelLibrary written = WrittenModel.library("kws");
            ModelLibrary read = ModelLibraryFormat.read(save(
                            ModelLibraryFormat.write(List.of(written), options).toArray()))
                    .get(0);

            assertThat(read.metadata().target()).isEqualTo(WrittenModel.TARGET);
            assertThat(read.metadata().io()).isEqualTo(Io.CALLER);
            assertThat(read.metadata().inputs()).extracting(TensorInfo::name).containsExactly("z:0", "a");
            assertThat(read.metadata().inputs()).extracting(TensorInfo::bytes).containsExactly(490L, 8L);
            assertThat(read.metadata().workspaceBytes()).isEqualTo(1600);
            assertThat(read.metadata().operators())
                    .extracting(OperatorInfo::name)
                    .containsExactly("tvmgen_kws_fused_qnn_conv2d");
            assertThat(read.artifacts().of(ArtifactKind.SOURCE))
                    .extracting(Artifact::fileName)
                    .containsExactly("kws_lib0.c", "kws_lib1.c");
            assertThat(ModelLibraryFormat.write(List.of(read), options).size()).isPositive();
        }
    }

    @Test
    void filesFindTheirModel() throws IOException {
        List<ModelLibrary> read = ModelLibraryFormat.read(
                save(ModelLibraryFormat.write(List.of(WrittenModel.library("net"), WrittenModel.library("net_two")), V7)
                        .toArray()));

        assertThat(read).hasSize(2);
        assertThat(read.get(0).artifacts().of(ArtifactKind.SOURCE)).hasSize(2);
        assertThat(read.get(1).artifacts().of(ArtifactKind.HEADER))
                .extracting(Artifact::fileName)
                .containsExactly("tvmgen_net_two.h");
        assertThat(read.get(1).artifacts().of(ArtifactKind.RELAY)).hasSize(1);
        assertThat(read.get(1).artifacts().of(ArtifactKind.RUNTIME)).isNotEmpty();
    }

    @Test
    void pathsThatEscapeAreRefused() throws IOException {
        for (String path : List.of("../x", "./a/../../x", "a\\b", "C:x", "./a//b", "./.../x")) {
            assertThatThrownBy(() -> ModelLibraryFormat.read(save(tar(path, TarConstants.LF_NORMAL, "x"))))
                    .as(path)
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("x.tar: ");
        }
        for (byte link : new byte[] {TarConstants.LF_LINK, TarConstants.LF_SYMLINK, TarConstants.LF_CHR}) {
            assertThatThrownBy(() -> ModelLibraryFormat.read(save(tar("a", link, ""))))
                    .hasMessageContaining("neither a plain file nor a folder");
        }
    }

    @Test
    void badMetadataIsExplained() throws IOException {
        Map<String, String> bad = new LinkedHashMap<>();
        bad.put("{", "this is not JSON");
        bad.put("[]", "the file is []; expected a JSON object");
        bad.put("{\"version\": 99}", "expected 1 to 7");
        bad.put("{\"version\": 7}", "`modules` is missing");
        bad.put("{\"version\": 7, \"modules\": {}}", "`modules` is {}; expected at least one model");
        bad.put("{\"version\": 7, \"modules\": {\"../x\": {}}}", "expected letters, digits and underscores");
        bad.put("{\"version\": 5, \"model_name\": \"m\", \"style\": \"operator\"}", "expected \"full-model\"");
        bad.put(
                "{\"version\": 5, \"model_name\": \"m\", \"style\": \"full-model\", \"executors\": [\"vm\"]}",
                "expected \"aot\" or \"graph\" among them");
        for (Map.Entry<String, String> entry : bad.entrySet()) {
            assertThatThrownBy(() -> ModelLibraryFormat.read(
                            save(tar("./metadata.json", TarConstants.LF_NORMAL, entry.getKey()))))
                    .as(entry.getKey())
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining(entry.getValue());
        }
        assertThatThrownBy(() -> ModelLibraryFormat.read(save(tar("x", TarConstants.LF_NORMAL, ""))))
                .hasMessageContaining("there is no metadata.json");
        assertThatThrownBy(() -> ModelLibraryFormat.read(folder)).hasMessageContaining("is not a file");
    }

    @Test
    void damagedArchivesNeverEndInAnythingButAMessage() throws IOException {
        byte[] good = ModelLibraryFormat.write(List.of(WrittenModel.library("kws")), V5)
                .toArray();
        Random random = new Random(4);
        for (int round = 0; round < 300; round++) {
            byte[] bad = round % 3 == 0 ? Arrays.copyOf(good, random.nextInt(good.length)) : good.clone();
            for (int i = 0; i < 4 && bad.length > 0; i++) {
                bad[random.nextInt(bad.length)] = (byte) random.nextInt();
            }
            Path file = save(bad);
            try {
                assertThat(ModelLibraryFormat.read(file)).isNotEmpty();
            } catch (KilnException e) {
                assertThat(e).hasMessageContaining("x.tar");
            }
        }
    }

    @Test
    void jsonIsPythons() {
        Map<String, Object> value = Map.of("b", List.of(), "a", Map.of("é\u007f\"\n\u0001", 1L), "c", Map.of());

        assertThat(PythonJson.print(value))
                .isEqualTo("{\n  \"a\": {\n    \"\\u00e9\u007f\\\"\\n\\u0001\": 1\n  },\n  \"b\": [],\n  \"c\": {}\n}");
    }

    private Path save(byte[] content) throws IOException {
        return Files.write(folder.resolve("x.tar"), content);
    }

    private static byte[] tar(String path, byte type, String content) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(out, StandardCharsets.UTF_8.name())) {
            TarArchiveEntry entry = new TarArchiveEntry("placeholder", type);
            entry.setName(path);
            byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
            entry.setSize(bytes.length);
            tar.putArchiveEntry(entry);
            tar.write(bytes);
            tar.closeArchiveEntry();
        }
        return out.toByteArray();
    }

    private static Map<String, TarArchiveEntry> entries(Bytes archive) throws IOException {
        Map<String, TarArchiveEntry> entries = new LinkedHashMap<>();
        try (TarArchiveInputStream tar =
                new TarArchiveInputStream(new ByteArrayInputStream(archive.toArray()), StandardCharsets.UTF_8.name())) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                assertThat(entries.put(entry.getName(), entry)).isNull();
            }
        }
        return entries;
    }

    private static String member(Bytes archive, String name) throws IOException {
        try (TarArchiveInputStream tar =
                new TarArchiveInputStream(new ByteArrayInputStream(archive.toArray()), StandardCharsets.UTF_8.name())) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                if (entry.getName().equals(name)) {
                    return new String(tar.readAllBytes(), StandardCharsets.UTF_8);
                }
            }
        }
        throw new AssertionError("no " + name);
    }
}
