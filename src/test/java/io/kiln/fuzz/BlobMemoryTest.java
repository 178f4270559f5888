// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactSet;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import io.kiln.module.DeviceModule;
import io.kiln.module.ModuleBlob;
import io.kiln.module.ModuleExport;
import io.kiln.module.ModuleLoaders;
import io.kiln.module.ModuleTree.LinkedCode;
import io.kiln.module.ModuleTree.ModuleNode;
import io.kiln.module.SharedLibrary;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Blobs and libraries of half a megabyte that are cut, or changed where their structure is: an answer, or an error that says where. */
class BlobMemoryTest {
    private static final int PAYLOAD = 512 << 10;
    private static final int ROUNDS = 400;
    private static final Pattern WHERE = Pattern.compile("offset 0x[0-9a-f]+|at address 0x[0-9a-f]+");
    private static final ModuleLoaders LOADERS = ModuleLoaders.installed();
    private static final ThreadMXBean THREAD = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @TempDir
    private Path folder;

    private static Bytes modules() {
        DeviceModule device = new DeviceModule(
                "cubin",
                Map.of("f", new DeviceModule.FunctionInfo("f", List.of(0x014003), List.of("blockIdx.x"))),
                Bytes.wrap(new byte[PAYLOAD]));
        return ModuleBlob.write(ModuleExport.tree(List.of(
                new ModuleNode("llvm", new LinkedCode(List.of("f")), List.of(1)),
                new ModuleNode("cuda", device, List.of()))));
    }

    @Test
    void modulesTakeNoMoreThanTwiceTheBlob() {
        check(modules(), blob -> ModuleBlob.read(blob, List.of(), LOADERS, "x.bin"));
    }

    @Test
    void artifactsTakeNoMoreThanTwiceTheBlob() {
        List<Artifact> files = List.of(
                new Artifact("c", "npu", "a.bin", Bytes.wrap(new byte[PAYLOAD / 2]), "host"),
                new Artifact("npu", "npu", "b.bin", Bytes.wrap(new byte[PAYLOAD / 2]), "npu"));
        check(
                ArtifactSet.of(files, Map.of("host", "c", "npu", "npu")).export(),
                blob -> ArtifactSet.load(blob, "x.bin"));
        check(files.get(0).export(), blob -> Artifact.load(blob, "x.bin"));
    }

    /** The file is in memory already, so that its blob may take as much once more. */
    @Test
    void librariesTakeNoMoreThanTwiceTheFile() throws IOException {
        Files.write(folder.resolve("blob.bin"), modules().toArray());
        Files.writeString(folder.resolve("blob.s"), """
            .section .rodata
            .globl __tvm_dev_mblob
            .type __tvm_dev_mblob, @object
            __tvm_dev_mblob: .incbin "blob.bin"
            .size __tvm_dev_mblob, . - __tvm_dev_mblob
            """);
        ProcessResult made =
                ProcessRunner.run(Command.of("cc", List.of("-shared", "-nostdlib", "-o", "lib.so", "blob.s"))
                        .in(folder));
        assertThat(made.exitCode()).as(made.message()).isZero();
        check(
                Bytes.wrap(Files.readAllBytes(folder.resolve("lib.so"))),
                library -> SharedLibrary.read(ElfFile.read(library, "x.so"), "x.so", LOADERS));
    }

    private interface BlobReading {
        void read(Bytes blob);
    }

    private static void check(Bytes whole, BlobReading reading) {
        reading.read(whole);
        Random random = new Random(12);
        int refused = 0;
        for (int round = 0; round < ROUNDS; round++) {
            byte[] file = whole.toArray();
            int near = random.nextInt(300);
            int at = random.nextBoolean() ? near : file.length - 1 - near;
            Bytes spoiled;
            if (round % 4 == 0) {
                spoiled = Bytes.wrap(Arrays.copyOf(file, at));
            } else {
                file[at] = (byte) (random.nextBoolean() ? random.nextInt() : file[at] ^ (1 << random.nextInt(8)));
                spoiled = Bytes.wrap(file);
            }
            Optional<String> message = answer(spoiled, reading);
            message.ifPresent(text -> assertThat(text)
                    .matches(
                            each -> each.length() < 8192 && WHERE.matcher(each).find(),
                            "says where, and not all of the file"));
            refused += message.isPresent() ? 1 : 0;
            assertThat(taken(spoiled, reading)).as("round %d", round).isLessThanOrEqualTo(2L * whole.size());
        }
        assertThat(refused).isGreaterThan(ROUNDS / 4);
    }

    /** Bytes allocated by the second reading: the first one may load classes. */
    private static long taken(Bytes blob, BlobReading reading) {
        long before = THREAD.getCurrentThreadAllocatedBytes();
        answer(blob, reading);
        return THREAD.getCurrentThreadAllocatedBytes() - before;
    }

    /** What it says; empty if the blob is read. */
    private static Optional<String> answer(Bytes blob, BlobReading reading) {
        try {
            reading.read(blob);
            return Optional.empty();
        } catch (KilnException e) {
            return Optional.of(e.getMessage());
        }
    }
}
