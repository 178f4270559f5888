// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactSet;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.module.ModuleTree.ModuleNode;
import io.kiln.spi.ArtifactFile;
import io.kiln.spi.BlobReader;
import io.kiln.spi.BlobWriter;
import io.kiln.spi.ExtensionFailure;
import io.kiln.spi.ModuleContent;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loaders that implement the interface that lasts are found as services, and load what they wrote. */
class PromisedModulesTest {
    /** A list of names, and a number. */
    private record Streams(List<String> functions, long number) implements ModuleContent {
        @Override
        public void write(BlobWriter out) {
            out.strings(functions).u64(number).u32(7).string("end").bytes(ByteBuffer.wrap(new byte[] {1, 2}));
        }

        @Override
        public Map<String, ByteBuffer> files() {
            return Map.of("stream.bin", ByteBuffer.wrap(new byte[] {3}));
        }

        @Override
        public List<String> details() {
            return List.of("number " + number);
        }
    }

    /** Reads them from a library. */
    public static final class Modules implements io.kiln.spi.ModuleLoader {
        @Override
        public Set<String> typeKeys() {
            return Set.of("streams");
        }

        @Override
        public ModuleContent load(String typeKey, BlobReader in) {
            Streams read = new Streams(in.texts("functions"), in.u64("number"));
            if (in.u32("seven") != 7 || !in.text("end").equals("end")) {
                throw in.broken("it has no end", in.position());
            }
            assertThat(in.bytes(2, "bytes").get(1)).isEqualTo((byte) 2);
            return read;
        }
    }

    /** Makes them of files. */
    public static final class Artifacts implements io.kiln.spi.ArtifactLoader {
        @Override
        public Set<String> names() {
            return Set.of("streams");
        }

        @Override
        public ModuleContent load(String name, List<ArtifactFile> files) {
            if (files.get(0).content().remaining() == 0) {
                throw new ExtensionFailure("the stream is empty", files.get(0).name(), "a stream", "Build it again");
            }
            return new Streams(files.stream().map(ArtifactFile::text).toList(), files.size());
        }
    }

    @TempDir
    private Path folder;

    private URLClassLoader services;

    @BeforeEach
    void registered() throws IOException {
        Path names = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(names.resolve("io.kiln.spi.ModuleLoader"), Modules.class.getName());
        Files.writeString(names.resolve("io.kiln.spi.ArtifactLoader"), Artifacts.class.getName());
        services = new URLClassLoader(
                new URL[] {folder.toUri().toURL()}, getClass().getClassLoader());
    }

    @AfterEach
    void close() throws IOException {
        services.close();
    }

    private static ArtifactSet set(String text) {
        SortedMap<String, String> targets = new TreeMap<>(Map.of("npu", "npu"));
        return new ArtifactSet(List.of(new Artifact("npu", "streams", "a.bin", Bytes.ofText(text), "npu")), targets);
    }

    @Test
    void whatIsMadeOfFilesIsReadAgain() {
        List<ModuleNode> made = ArtifactLoaders.installed(services).load(set("run"));
        assertThat(made).singleElement().satisfies(node -> {
            assertThat(node.typeKey()).isEqualTo("streams");
            assertThat(node.payload().functions()).containsExactly("run");
            assertThat(node.payload().files()).containsEntry("stream.bin", Bytes.wrap(new byte[] {3}));
            assertThat(node.payload().details()).containsExactly("number 1");
        });
        ModuleWriter out = new ModuleWriter();
        made.get(0).payload().write(out);
        ModuleLoader loader = ModuleLoaders.installed(services).find("streams").orElseThrow();
        assertThat(loader.load("streams", new ModuleReader(out.bytes(), "lib.so")))
                .isEqualTo(made.get(0).payload());
        assertThatThrownBy(() -> loader.load("streams", new ModuleReader(Bytes.wrap(new byte[4]), "lib.so")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("lib.so, offset 0x0");
    }

    @Test
    void whatTheUserCanMendIsToldInItsParts() {
        assertThatThrownBy(() -> ArtifactLoaders.installed(services).load(set("")))
                .isInstanceOf(KilnException.class)
                .hasMessage("a.bin: the stream is empty; expected a stream. Build it again.");
    }
}
