// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Failure;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.toolchain.compiler.BundledCompiler.UnpackedFiles;
import io.kiln.toolchain.compiler.Toolchain.CompilerDescriptor.Bundle;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(value = OS.LINUX, disabledReason = "the archive made here has Linux file names")
class BundledCompilerTest {
    private static final String PLATFORM = BundledCompiler.classifier("llvm");
    private static final String VERSION = "20.1.7-1";
    private static final String NAME = "llvm-" + VERSION + "-" + PLATFORM;
    private static final String ROOT = "org/bytedeco/llvm/linux-x86_64/";

    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();
    private final List<String> said = log.said();
    private final AtomicInteger fetches = new AtomicInteger();

    @Test
    void onlyWhatIsNeededIsUnpackedWhereClangLooksForIt() throws IOException {
        Path home = install(jar("clang", "lld", "opt"));

        assertThat(home.resolve("bin/clang")).isExecutable().hasContent("clang");
        assertThat(home.resolve("bin/ld.lld")).isSymbolicLink().isExecutable().hasContent("lld");
        assertThat(home.resolve("lib/libLLVM.so.20.1")).exists();
        // A folder and a program that are new have the permissions that the umask leaves.
        assertThat(Files.getPosixFilePermissions(home.resolve("bin/clang")))
                .isEqualTo(Files.getPosixFilePermissions(Files.createDirectory(folder.resolve("new"))));
        assertThat(home.resolve("lib/libclang-cpp.so.20.1")).exists();
        assertThat(home.resolve("lib/clang/20/include/stdint.h")).exists();
        assertThat(names(home)).doesNotContain("opt", "libclang.so", "Pass.h");
        assertThat(said).singleElement().asString().contains("147 MB to fetch").contains("270 MB on disk");
    }

    @Test
    void manyAtOnceUnpackItOnce() throws Exception {
        Path jar = jar("clang", "lld");
        ExecutorService pool = Executors.newFixedThreadPool(8);
        try {
            List<Callable<Path>> tasks = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                tasks.add(() -> install(jar));
            }
            for (Future<Path> future : pool.invokeAll(tasks)) {
                assertThat(future.get().resolve("bin/clang")).exists();
            }
        } finally {
            pool.shutdownNow();
        }
        assertThat(fetches).hasValue(1);
        install(jar);
        assertThat(fetches).hasValue(1);
    }

    @Test
    void itIsAskedOnceForItsVersion() throws IOException {
        Path jar = jar("clang", "lld");
        Path home = install(jar);
        assertThatThrownBy(() -> BundledCompiler.version(home, () -> {
                    throw new KilnException(Failure.TOOL.problem("it does not run", "clang", "it runs", ""));
                }))
                .as("a compiler that does not run is asked again")
                .hasMessageContaining("it does not run");

        assertThat(BundledCompiler.version(home, () -> "clang 20.1.7")).isEqualTo("clang 20.1.7");
        assertThat(BundledCompiler.version(install(jar), () -> "another")).isEqualTo("clang 20.1.7");
    }

    @Test
    void whatAnInterruptedBuildLeftBehindIsReplaced() throws IOException {
        Path part = folder.resolve("home/" + NAME + ".part/bin");
        Files.createDirectories(part);
        Files.writeString(part.resolve("clang"), "half");

        Path home = install(jar("clang", "lld"));

        assertThat(home.resolve("bin/clang")).hasContent("clang");
        assertThat(part.getParent()).doesNotExist();
    }

    @Test
    void anArchiveWithoutCompilerOrWithEntriesThatLeadOutIsRefused() throws IOException {
        Path empty = jar("lld");
        assertThatThrownBy(() -> install(empty))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("there is no clang");
        Path evil = jar("clang", "lib/clang/../../../../evil.h");
        assertThatThrownBy(() -> install(evil))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("leads out of the archive");
        try (Stream<Path> left = Files.list(folder.resolve("home"))) {
            assertThat(left.filter(Files::isDirectory)).isEmpty();
        }
    }

    @Test
    void anotherArtifactThanThePinnedOneIsNotUnpacked() throws IOException {
        Path jar = jar("clang", "lld");
        Map<String, String> other = Map.of(PLATFORM, "0".repeat(64));
        for (Map<String, String> pinned : List.of(other, Map.of("other-computer", UnpackedFiles.digest(jar)))) {
            assertThatThrownBy(() -> BundledCompiler.install(bundle(pinned), environment(jar)))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("its SHA-256 is " + UnpackedFiles.digest(jar));
        }
        assertThat(folder.resolve("home/" + NAME)).doesNotExist();
    }

    @Test
    void whatWasChangedIsNoticedAndUnpackedAgain() throws IOException {
        Path jar = jar("clang", "lld");
        Path home = install(jar);
        List<Change> changes = List.of(
                () -> Files.writeString(home.resolve("bin/clang"), "CLANG"),
                () -> {
                    FileTime time = Files.getLastModifiedTime(home.resolve("lib/libLLVM.so.20.1"));
                    Files.writeString(home.resolve("lib/libLLVM.so.20.1"), "LIBLLVM.so");
                    Files.setLastModifiedTime(home.resolve("lib/libLLVM.so.20.1"), time);
                },
                () -> Files.writeString(home.resolve("bin/clang.cfg"), "-fplugin=x"),
                () -> Files.delete(home.resolve("lib/clang/20/include/stdint.h")),
                () -> {
                    Files.delete(home.resolve("bin/ld.lld"));
                    Files.createSymbolicLink(home.resolve("bin/ld.lld"), Path.of("clang"));
                },
                () -> Files.delete(folder.resolve("home/" + NAME + ".files")),
                () -> Files.writeString(folder.resolve("home/" + NAME + ".files"), "nonsense"));
        for (Change change : changes) {
            said.clear();
            change.make();
            install(jar);
            assertThat(said).anyMatch(line -> line.contains("was changed"));
            assertThat(home.resolve("bin/clang")).hasContent("clang");
            assertThat(home.resolve("lib/libLLVM.so.20.1")).hasContent("libLLVM.so");
            assertThat(home.resolve("lib/clang/20/include/stdint.h")).exists();
            assertThat(home.resolve("bin/ld.lld")).hasContent("lld");
            assertThat(home.resolve("bin/clang.cfg")).doesNotExist();
        }
        assertThat(fetches).hasValue(1 + changes.size());
    }

    @Test
    void aFolderWithOtherTimesIsTakenWhenItHoldsTheSame() throws IOException {
        Path jar = jar("clang", "lld");
        Path home = install(jar);
        Files.setLastModifiedTime(home.resolve("bin/clang"), FileTime.fromMillis(1_000_000));
        said.clear();
        install(jar);
        assertThat(said).isEmpty();
        assertThat(fetches).hasValue(1);
    }

    @Test
    void whatFailsHalfWayLeavesNothingAndTheNextTryWorks() throws IOException {
        Path good = jar("clang", "lld");
        // Two entries for one place: the second cannot be written, as if the disk were full.
        Path broken = jar("clang", "lld", "libLLVM.so.20");
        assertThatThrownBy(() -> install(broken))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the compiler cannot be unpacked")
                .hasMessageContaining("kiln.home");
        try (Stream<Path> left = Files.list(folder.resolve("home"))) {
            assertThat(left.map(path -> path.getFileName().toString())).containsExactly(NAME + ".lock");
        }
        assertThat(install(good).resolve("bin/clang")).exists();
    }

    /** Something that happens to a folder. */
    @FunctionalInterface
    private interface Change {
        void make() throws IOException;
    }

    private Path install(Path jar) throws IOException {
        return BundledCompiler.install(bundle(Map.of(PLATFORM, UnpackedFiles.digest(jar))), environment(jar));
    }

    private static Bundle bundle(Map<String, String> sha256) {
        return new Bundle("g", "llvm", VERSION, 147, 270, sha256);
    }

    @Test
    void computersAreNamedAsClassifiersNameThem() {
        assertThat(BundledCompiler.classifier("linux", "amd64")).isEqualTo("linux-x86_64");
        assertThat(BundledCompiler.classifier("mac os x", "aarch64")).isEqualTo("macosx-arm64");
        assertThat(BundledCompiler.classifier("windows 11", "x86_64")).isEqualTo("windows-x86_64");
    }

    /** Before anything is fetched. */
    @Test
    void computersOnWhichItDoesNotRunAreRefused() throws IOException {
        for (String classifier : List.of("linux-x86_64", "linux-arm64", "macosx-x86_64", "macosx-arm64")) {
            assertThat(BundledCompiler.refusal("llvm", classifier, false)).isEmpty();
        }
        assertThat(BundledCompiler.refusal("llvm", "windows-x86_64", false)
                        .orElseThrow()
                        .text())
                .contains("the compiler llvm is not for this computer (Windows without WSL)")
                .contains("Build in WSL 2");
        assertThat(BundledCompiler.refusal("llvm", "linux-x86_64", true)
                        .orElseThrow()
                        .text())
                .contains("musl in place of glibc");
        assertThat(BundledCompiler.refusal("llvm", "linux-riscv64", false)
                        .orElseThrow()
                        .text())
                .contains("(linux-riscv64); expected one of linux-x86_64, ");
        assertThat(BundledCompiler.hasMusl(folder)).isFalse();
        Files.createFile(Files.createDirectories(folder.resolve("lib")).resolve("ld-musl-x86_64.so.1"));
        assertThat(BundledCompiler.hasMusl(folder)).isTrue();
        Files.createFile(Files.createDirectories(folder.resolve("lib64")).resolve("ld-linux-x86-64.so.2"));
        assertThat(BundledCompiler.hasMusl(folder)).as("it has glibc, too").isFalse();
    }

    @Test
    void theHomeIsBesideTheLocalRepositoryUnlessSaidOtherwise() {
        if (System.getenv("KILN_HOME") == null && System.getProperty("kiln.home") == null) {
            assertThat(ToolchainEnvironment.defaultHome(Path.of("/u/.m2/repository")))
                    .isEqualTo(Path.of("/u/.m2/kiln"));
        }
    }

    private ToolchainEnvironment environment(Path jar) {
        return new ToolchainEnvironment(
                folder.resolve("home"),
                List.of(),
                (group, artifact, version, classifier, extension) -> {
                    fetches.incrementAndGet();
                    return jar;
                },
                log);
    }

    private Path jar(String... names) throws IOException {
        Path jar = folder.resolve(String.join("-", names).replace('/', '_') + ".jar");
        List<String> entries = new ArrayList<>(List.of(names));
        entries.addAll(List.of(
                "libLLVM.so",
                "libclang-cpp.so",
                "libclang.so",
                "lib/clang/20/include/stdint.h",
                "include/llvm/Pass.h"));
        try (OutputStream out = Files.newOutputStream(jar);
                ZipOutputStream zip = new ZipOutputStream(out)) {
            for (String name : entries) {
                zip.putNextEntry(new ZipEntry(ROOT + name));
                zip.write(name.getBytes(StandardCharsets.UTF_8));
            }
        }
        return jar;
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> walk = Files.walk(folder)) {
            return walk.map(path -> path.getFileName().toString()).toList();
        }
    }
}
