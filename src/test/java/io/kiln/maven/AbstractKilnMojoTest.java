// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.junit.jupiter.api.Test;

class AbstractKilnMojoTest {
    @Test
    void whatTheUserCanMendFailsTheGoalWithoutCause() {
        KilnException wrong =
                new KilnException(Failure.CONFIG.problem("wrong", "a.c", "", ""), new IOException("why."));
        assertThatThrownBy(() -> new Throwing(wrong, false).execute())
                .isInstanceOf(MojoFailureException.class)
                .hasMessage("a.c: wrong.\nSee KILN-CONFIG in \"When Kiln fails\".")
                .hasNoCause()
                .satisfies(e -> assertThat(e.getSuppressed()).singleElement().hasToString(wrong.toString()));
    }

    @Test
    void anythingElseIsToldInOneMessage() {
        assertThatThrownBy(() -> new Throwing(new UncheckedIOException(new IOException("disk")), false).execute())
                .isInstanceOf(MojoExecutionException.class)
                .hasMessageContaining("disk")
                .hasNoCause();
        for (Throwable bug : new Throwable[] {
            new IllegalStateException("x"), new StackOverflowError(), new OutOfMemoryError("heap"), new AssertionError()
        }) {
            assertThatThrownBy(() -> new Throwing(bug, false).execute())
                    .isInstanceOf(MojoExecutionException.class)
                    .hasNoCause()
                    .satisfies(e -> assertThat(e.getSuppressed())
                            .singleElement()
                            .satisfies(trace -> {
                                assertThat(trace).hasToString(bug.toString());
                                assertThat(trace.getStackTrace()).isEqualTo(bug.getStackTrace());
                            }))
                    .satisfies(e -> assertThat(e.getMessage().lines()).hasSize(2))
                    .hasMessageMatching("(?s).*\nSee KILN-(BUG|COMPUTER) in \"When Kiln fails\"\\.");
        }
    }

    @Test
    void whatHappensBeforeSkippingIsBehindTheSameDoor() {
        assertThatThrownBy(() -> new Throwing(new IllegalStateException("x"), true).execute())
                .isInstanceOf(MojoExecutionException.class)
                .hasMessageContaining("this is a bug in Kiln");
    }

    /** A goal that fails. */
    private static final class Throwing extends AbstractKilnMojo {
        private final Throwable failure;
        private final boolean early;

        Throwing(Throwable failure, boolean early) {
            this.failure = failure;
            this.early = early;
        }

        @Override
        void prepare() {
            if (early) {
                fail();
            }
        }

        @Override
        void checkNames() {
            // There is no build whose names could be wrong.
        }

        @Override
        void run() {
            fail();
        }

        private void fail() {
            if (failure instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) failure;
        }

        @Override
        boolean isGoalSkipped() {
            return false;
        }
    }
}
