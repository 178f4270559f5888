// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileSystemException;
import org.junit.jupiter.api.Test;

class UnforeseenFailureTest {
    @Test
    void aFullDiskIsNamedWithTheFile() {
        assertThat(told(new UncheckedIOException(
                        "cannot write /out/a.elf", new IOException("No space left on device"))))
                .isEqualTo("cannot write /out/a.elf: no space left on the disk."
                        + " Free some space, then run the build again.");
        assertThat(told(new UncheckedIOException(
                        "cannot write /out/a.elf", new FileSystemException("/out/.a", null, "Disk quota exceeded"))))
                .contains("no space left on the disk");
    }

    @Test
    void missingRightsAreNamedWithTheFile() {
        assertThat(told(new UncheckedIOException("cannot write /out/a.elf", new AccessDeniedException("/out/.a"))))
                .startsWith("cannot write /out/a.elf: permission denied. Correct the permissions");
        assertThat(told(new UncheckedIOException(new AccessDeniedException("/out/.a"))))
                .startsWith("/out/.a: permission denied");
        assertThat(told(new UncheckedIOException(
                        "cannot lock /out/a", new FileSystemException("/out/a", null, "Read-only file system"))))
                .isEqualTo("cannot lock /out/a: the file system is read-only."
                        + " Choose another folder, or make it writable.");
    }

    @Test
    void otherFailuresOfFilesAreToldInWords() {
        assertThat(told(new UncheckedIOException("cannot empty /out", new DirectoryNotEmptyException("/out/a"))))
                .startsWith("cannot empty /out: the folder is not empty.");
        assertThat(told(new UncheckedIOException("cannot read /m", new IOException("Too many open files"))))
                .contains("ulimit -n");
    }

    @Test
    void memoryAndStackSayHowToGetMore() {
        assertThat(told(new IllegalStateException(new OutOfMemoryError("Java heap space"))))
                .contains("out of memory (Java heap space)", "MAVEN_OPTS=-Xmx");
        assertThat(told(new StackOverflowError()))
                .contains("stack overflowed in io.kiln.flow.state.UnforeseenFailureTest", "MAVEN_OPTS=-Xss");
    }

    @Test
    void aBugNamesVersionPlaceAndWhereToReportIt() {
        assertThat(told(new IllegalStateException("no case for 7")))
                .startsWith("this is a bug in Kiln " + PluginVersion.text()
                        + ": IllegalStateException: no case for 7, in" + " io.kiln.flow.state.UnforeseenFailureTest.")
                .contains("Report it to", "-e")
                .doesNotContain("\n");
        assertThat(told(new NullPointerException())).contains("NullPointerException");
    }

    @Test
    void whatWasToldInsideIsToldOutside() {
        KilnException inside = new KilnException(Failure.PROJECT.problem("wrong", "a.c"));
        assertThat(UnforeseenFailure.told(new IllegalStateException(inside))).isSameAs(inside);
    }

    private static String told(Throwable failure) {
        return UnforeseenFailure.told(failure).getMessage();
    }
}
