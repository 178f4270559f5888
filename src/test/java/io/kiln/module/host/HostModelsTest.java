// SPDX-License-Identifier: Apache-2.0
package io.kiln.module.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.compile.Frontends;
import io.kiln.compile.ReadOptions;
import io.kiln.flow.GestureProject;
import io.kiln.flow.export.LibraryExport;
import io.kiln.frontend.InputShapes;
import io.kiln.module.host.HostModel.HostLibrary;
import io.kiln.module.host.HostModel.HostTensor;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import io.kiln.reference.Interpreter;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several models of one library live and die independently of each other; a mistake of the caller's is an exception and no crash. */
final class HostModelsTest {
    private static final int THREADS = 8;
    private static final int MODELS = 1000;
    private static final int VECTORS = 4;

    /** Sets the first byte of its tensor; both functions have names that all versions share, and it counts its calls. */
    private static final String COUNTER = """
        #include <stdint.h>
        int counter_step(void) { return VERSION; }
        int counter_calls;
        int32_t counter_run(char*** values, int* codes, int count, void* result, int* code, void* resource) {
          counter_calls += counter_step();
          **values[0] = (char)counter_calls;
          return 0;
        }
        """;

    @TempDir
    Path folder;

    @BeforeEach
    void needsACompiler() {
        TestPrograms.need("cc");
    }

    private Path gesture() {
        return new LibraryExport(
                        Log.QUIET,
                        new GestureProject(folder).spec("host").build(),
                        TestToolchains.environment(Log.QUIET),
                        false)
                .run()
                .get(0);
    }

    private static Bytes input(int number) {
        try {
            return Bytes.wrap(Files.readAllBytes(GestureProject.VECTORS.resolve("input_" + number + ".bin")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What the interpreter answers to each vector. */
    private static final class Answers {
        static final List<List<Bytes>> ALL = IntStream.range(0, VECTORS)
                .mapToObj(number -> Interpreter.run(
                        Frontends.read(GestureProject.MODEL, "gesture", InputShapes.NONE, ReadOptions.DEFAULT),
                        List.of(input(number))))
                .toList();
    }

    private static void answers(HostModel model, int number) {
        assertThat(model.run(List.of(input(number)))).isEqualTo(Answers.ALL.get(number));
    }

    @Test
    void closingOneModelLeavesTheOthersAlone() throws IOException {
        Path file = gesture();
        HostModel first = HostModel.load(file, "gesture");
        try (HostModel second = HostModel.load(file, "gesture")) {
            answers(first, 0);
            first.close();
            first.close();
            for (int i = 0; i < VECTORS; i++) {
                answers(second, i);
            }
            assertThatThrownBy(() -> HostModel.load(file, "other")).isInstanceOf(KilnException.class);
            answers(second, 0);
        }
        assertThatThrownBy(() -> answers(first, 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the library " + file + " is closed");
        assertThatThrownBy(first::reset).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aModelForEachOfManyThreadsIsOpenedAndClosedAThousandTimes() throws Exception {
        Path file = gesture();
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        try {
            List<Callable<Integer>> tasks = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int number = i % VECTORS;
                tasks.add(() -> {
                    for (int k = 0; k < MODELS / THREADS; k++) {
                        try (HostModel model = HostModel.load(file, "gesture")) {
                            answers(model, number);
                            answers(model, (number + 1) % VECTORS);
                        }
                    }
                    return MODELS / THREADS;
                });
            }
            int opened = 0;
            for (Future<Integer> done : pool.invokeAll(tasks)) {
                opened += done.get();
            }
            assertThat(opened).isEqualTo(MODELS);
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void aFileThatIsReplacedIsNewCodeForTheNextAndOldCodeForThoseBefore() throws IOException {
        Path file = counter(1, folder.resolve("libcounter.so"));
        try (HostLibrary one = HostLibrary.load(file)) {
            assertThat(counted(one)).isEqualTo(1);
            Files.write(file, Files.readAllBytes(counter(10, folder.resolve("libother.so"))));
            try (HostLibrary ten = HostLibrary.load(file);
                    HostLibrary again = HostLibrary.load(file)) {
                assertThat(counted(ten)).isEqualTo(10);
                assertThat(counted(ten)).isEqualTo(20);
                assertThat(counted(again)).as("a state of its own").isEqualTo(10);
                assertThat(counted(one)).isEqualTo(2);
                Files.delete(file);
                assertThat(counted(again)).isEqualTo(20);
            }
            assertThat(counted(one)).isEqualTo(3);
        }
    }

    @Test
    void aLibraryThatIsClosedWhileItIsUsedEndsItsUseWithAnException() throws Exception {
        HostLibrary library = HostLibrary.load(counter(1, folder.resolve("libcounter.so")));
        CountDownLatch runs = new CountDownLatch(1);
        ExecutorService pool = Executors.newSingleThreadExecutor();
        try {
            Future<?> user = pool.submit(() -> {
                while (true) {
                    counted(library);
                    runs.countDown();
                }
            });
            runs.await();
            library.close();
            assertThatThrownBy(user::get)
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(IllegalStateException.class);
        } finally {
            pool.shutdownNow();
        }
        assertThatThrownBy(() -> library.has("counter_run")).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> library.address("counter_run")).isInstanceOf(IllegalStateException.class);
        library.close();
    }

    @Test
    void whatIsNoLibraryIsRefusedByItsOwnName() throws IOException {
        Path file = Files.writeString(folder.resolve("libtext.so"), "no library");
        assertThatThrownBy(() -> HostLibrary.load(file))
                .isInstanceOf(KilnException.class)
                .hasMessage(file
                        + ": the library cannot be loaded: file too short; expected a shared library for this"
                        + " computer. Make it with kiln:export -Dkiln.export=library.");
        assertThatThrownBy(() -> HostLibrary.load(folder.resolve("none.so")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("none.so: the library cannot be loaded");
        assertThat(folder).isDirectoryNotContaining("glob:**/kiln*");
    }

    private static int counted(HostLibrary library) {
        HostTensor tensor = new HostTensor("count", DType.INT8, List.of(1));
        library.call("counter_run", List.of(tensor));
        return tensor.get().get(0);
    }

    private Path counter(int version, Path library) throws IOException {
        Path source = Files.writeString(folder.resolve("counter.c"), COUNTER);
        ProcessResult result = ProcessRunner.run(Command.of(
                "cc", "-shared", "-fPIC", "-DVERSION=" + version, source.toString(), "-o", library.toString()));
        assertThat(result.succeeded()).as(result.message()).isTrue();
        return library;
    }
}
