// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.lease;

import io.kiln.base.Digests;
import io.kiln.base.FileFailure;
import io.kiln.base.FolderLock;
import io.kiln.base.WholeFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Leases of this computer's boards, each a file named after the probe's serial number: the holder's token and the time in milliseconds at which the
 * lease ends unless it is renewed. A lock of the operating system guards each change.
 *
 * @param folder the same for all workers of this computer
 * @param clock of this computer
 * @param term how long a lease lasts without renewal
 */
public record BoardLeases(Path folder, Clock clock, Duration term) {
    /** The usual time for which a lease lasts without renewal; a holder renews it three times as often. */
    public static final Duration USUAL_TERM = Duration.ofSeconds(15);

    private static final int DIGITS = 8;

    /**
     * Takes a board.
     *
     * @param probe serial number, or another name of the probe
     * @return empty if somebody else has it
     */
    public Optional<BoardLease> take(String probe) {
        Path file = file(probe);
        String token = UUID.randomUUID().toString();
        return guarded(() -> {
            if (holder(file).filter(lease -> lease.end() > clock.millis()).isPresent()) {
                return Optional.empty();
            }
            write(file, token);
            return Optional.of(new BoardLease(this, probe, token));
        });
    }

    /** Extends a lease; false if it has ended, even if nobody else has the board. */
    boolean renew(String probe, String token) {
        Path file = file(probe);
        return guarded(() -> {
            if (!isHeld(file, token)) {
                return false;
            }
            write(file, token);
            return true;
        });
    }

    /** Ends a lease, if it has not ended before. */
    void release(String probe, String token) {
        Path file = file(probe);
        guarded(() -> {
            if (isHeld(file, token)) {
                Files.deleteIfExists(file);
            }
            return true;
        });
    }

    private record Holder(String token, long end) {}

    private boolean isHeld(Path file, String token) {
        return holder(file)
                .filter(lease -> lease.token().equals(token) && lease.end() > clock.millis())
                .isPresent();
    }

    private void write(Path file, String token) {
        WholeFiles.write(file, token + "\n" + (clock.millis() + term.toMillis()) + "\n");
    }

    /** The holder of the lease in a file; a damaged file is nobody's lease. */
    private static Optional<Holder> holder(Path file) {
        try {
            List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
            return lines.size() == 2
                    ? Optional.of(new Holder(lines.get(0), Long.parseLong(lines.get(1))))
                    : Optional.empty();
        } catch (IOException | NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** The lease file of a probe, named by a digest too: serial numbers may have any characters. */
    private Path file(String probe) {
        String digest = Digests.sha256(probe.getBytes(StandardCharsets.UTF_8)).substring(0, DIGITS);
        String readable = probe.replaceAll("[^A-Za-z0-9-]", "_");
        return folder.resolve(readable.substring(0, Math.min(40, readable.length())) + "-" + digest + ".lease");
    }

    @FunctionalInterface
    private interface Change<T> {
        T make() throws IOException;
    }

    private <T> T guarded(Change<T> change) {
        try (FolderLock lock = FolderLock.acquire(folder, "leases")) {
            lock.guarding(folder);
            return change.make();
        } catch (IOException e) {
            throw FileFailure.of("cannot change the leases in", folder, e);
        }
    }

    /** One board, for as long as its holder renews the lease. */
    public static final class BoardLease implements AutoCloseable {
        private final BoardLeases leases;
        private final String probe;
        private final String token;

        BoardLease(BoardLeases leases, String probe, String token) {
            this.leases = leases;
            this.probe = probe;
            this.token = token;
        }

        /** Extends the lease; false if it has ended, and the board may be somebody else's. */
        public boolean renew() {
            return leases.renew(probe, token);
        }

        /** Gives the board back. */
        @Override
        public void close() {
            leases.release(probe, token);
        }
    }
}
