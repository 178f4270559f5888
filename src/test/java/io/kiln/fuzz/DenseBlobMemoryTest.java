// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactSet;
import io.kiln.base.Bytes;
import io.kiln.base.elf.ElfFile;
import io.kiln.module.ModuleBlob;
import io.kiln.module.ModuleLoaders;
import io.kiln.module.ModuleWriter;
import io.kiln.module.SharedLibrary;
import io.kiln.module.SharedLibrary.ArtifactGroups;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files of as many tiny items as they can hold: objects for all of them would take several times the file. */
class DenseBlobMemoryTest {
    private static final int FILE = 512 << 10;

    /** For a limited number of modules, artifacts or targets. */
    private static final long CONSTANT = 2 << 20;

    private static final ModuleLoaders LOADERS = ModuleLoaders.installed();
    private static final ThreadMXBean THREAD = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @ParameterizedTest
    @EnumSource(DenseModule.class)
    void manyItemsOfAModule(DenseModule module) {
        check(module.blob(FILE), file -> ModuleBlob.read(file, List.of(), LOADERS, "x.bin"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"metadata_module", "c", "hip", "VMExecutable"})
    void manyModules(String key) {
        int count = 1020;
        ModuleWriter out = new ModuleWriter().u64(count);
        IntStream.range(0, count).forEach(i -> {
            out.string(key);
            IntStream.range(0, Map.of("c", 4, "hip", 3, "VMExecutable", 1).getOrDefault(key, 0))
                    .forEach(field -> out.u64(0));
        });
        check(DenseModule.withLength(out), CONSTANT, file -> ModuleBlob.read(file, List.of(), LOADERS, "x.bin"));
    }

    @Test
    void chainOfModules() {
        int count = 1020;
        check(
                metadataModules(
                        count,
                        IntStream.rangeClosed(0, count)
                                .map(i -> Math.min(i, count - 1))
                                .boxed()
                                .toList(),
                        IntStream.range(1, count).boxed().toList()),
                CONSTANT,
                file -> ModuleBlob.read(file, List.of(), LOADERS, "x.bin"));
    }

    @Test
    void everyModuleImportsAllBehindIt() {
        int count = 360;
        List<Integer> rows = IntStream.rangeClosed(0, count)
                .map(i -> i * (count - 1) - i * (i - 1) / 2)
                .boxed()
                .toList();
        List<Integer> children = IntStream.range(0, count)
                .flatMap(i -> IntStream.range(i + 1, count))
                .boxed()
                .toList();
        check(metadataModules(count, rows, children), file -> ModuleBlob.read(file, List.of(), LOADERS, "x.bin"));
    }

    @Test
    void moreModulesAreRefused() {
        ModuleWriter out = new ModuleWriter().u64(1026);
        IntStream.range(0, 1026).forEach(i -> out.string("metadata_module"));
        assertThatThrownBy(() -> ModuleBlob.read(DenseModule.withLength(out), List.of(), LOADERS, "x.bin"))
                .hasMessageContaining("the number of entries is 1026, more than 1025");
    }

    private static Bytes metadataModules(int count, List<Integer> rows, List<Integer> children) {
        ModuleWriter out = new ModuleWriter().u64(count + 1);
        IntStream.range(0, count).forEach(i -> out.string("metadata_module"));
        return DenseModule.withLength(out.string("_import_tree").numbers(rows).numbers(children));
    }

    @Test
    void artifactsAndTargetsUpToALimit() {
        check(artifacts(1024).export(), CONSTANT, file -> ArtifactSet.load(file, "x.bin"));
        check(ArtifactGroups.write(artifacts(1024)), CONSTANT, file -> ArtifactGroups.read(file, "x.bin"));
        check(targets(256).export(), CONSTANT, file -> ArtifactSet.load(file, "x.bin"));
        assertThatThrownBy(() -> artifacts(1025).export()).hasMessageContaining("1025 artifacts, more than 1024");
        assertThatThrownBy(() -> ArtifactGroups.write(artifacts(1025))).hasMessageContaining("more than 1024");
        assertThatThrownBy(() -> targets(257).export()).hasMessageContaining("257 targets, more than 256");
    }

    /** The number is read before anything is made of the items. */
    @ParameterizedTest
    @CsvSource({"12, 257, targets", "16, 1025, artifacts"})
    void setsOfMoreAreRefused(int at, int count, String what) {
        byte[] file = Arrays.copyOf(new ArtifactSet(List.of()).export().toArray(), FILE);
        ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).putInt(at - 4, count);
        check(
                Bytes.wrap(file),
                0,
                blob -> assertThatThrownBy(() -> ArtifactSet.load(blob, "x.bin"))
                        .hasMessageContaining(count + " " + what + ", more than"));
    }

    private static ArtifactSet artifacts(int count) {
        return new ArtifactSet(IntStream.range(0, count)
                .mapToObj(i -> new Artifact("g" + i, "l" + i, "f" + i, Bytes.wrap(new byte[0]), "host"))
                .toList());
    }

    private static ArtifactSet targets(int count) {
        return new ArtifactSet(
                List.of(),
                new TreeMap<>(IntStream.range(0, count)
                        .boxed()
                        .collect(Collectors.toMap(i -> Integer.toString(i, Character.MAX_RADIX), i -> ""))));
    }

    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    void manyFunctionsOfALibrary(boolean isWide, boolean isSame) {
        check(
                DenseLibrary.of(isWide, isSame, FILE / 24),
                file -> SharedLibrary.read(ElfFile.read(file, "x.so"), "x.so", LOADERS));
    }

    private static void check(Bytes file, Consumer<Bytes> reading) {
        check(file, 0, reading);
    }

    private static void check(Bytes file, long constant, Consumer<Bytes> reading) {
        // The first reading may load classes.
        reading.accept(file);
        long before = THREAD.getCurrentThreadAllocatedBytes();
        reading.accept(file);
        assertThat(THREAD.getCurrentThreadAllocatedBytes() - before)
                .as("bytes taken for a file of %d", file.size())
                .isLessThanOrEqualTo(2L * file.size() + constant);
    }
}
