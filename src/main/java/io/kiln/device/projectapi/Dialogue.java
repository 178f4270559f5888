// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Printable;
import io.kiln.base.Problem;
import io.kiln.device.transport.TimedBytes;
import io.kiln.device.transport.TimedInput;
import io.kiln.process.RunningProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/** Requests to a server's process, strictly one after the other, from any thread. A wrong or late answer ends the process. */
final class Dialogue implements AutoCloseable {
    /** Longest answer in bytes. */
    private static final int MOST_BYTES = 16 << 20;

    private static final Duration TIME_TO_END = Duration.ofSeconds(5);
    private static final int MOST_ERRORS = 2000;

    private final RunningProcess process;
    private final String name;
    private final TimedInput output;
    private final LineReader lines;
    private final ReentrantLock turn = new ReentrantLock(true);
    private int lastId;
    private boolean interrupted;
    private boolean ended;
    private Optional<Problem> reason = Optional.empty();

    /**
     * @param name the server's place, for messages
     */
    Dialogue(RunningProcess process, String name) {
        this.process = process;
        this.name = name;
        this.output = new TimedInput(process.output());
        this.lines = new LineReader(new Patient(), MOST_BYTES);
    }

    /**
     * The answer's bytes. An interrupt, which stops a thread that reads ahead, does not cut off an answer that is on its way: a few
     * seconds are left for it.
     */
    private final class Patient implements TimedBytes {
        @Override
        public int read(long deadline) {
            int value = output.read(deadline);
            long last = deadline;
            while (value == LATE && Thread.interrupted()) {
                interrupted = true;
                last = Math.min(last, now() + TIME_TO_END.toNanos());
                value = output.read(last);
            }
            return value;
        }

        @Override
        public long now() {
            return output.now();
        }

        @Override
        public void close() {
            output.close();
        }
    }

    /**
     * Calls a method.
     *
     * @param limit longest time to the answer
     * @return its result
     * @throws MethodFailure if the server reports an error
     * @throws KilnException if it does not answer as it should; it has ended then
     */
    JsonNode call(String method, JsonNode params, Duration limit) {
        turn.lock();
        try {
            requireRunning(method);
            lastId++;
            send(Message.request(method, params, lastId));
            return Message.result(answer(limit), lastId);
        } catch (MethodFailure | Ended e) {
            throw e;
        } catch (KilnException e) {
            throw broken(method, e);
        } finally {
            if (interrupted) {
                interrupted = false;
                Thread.currentThread().interrupt();
            }
            turn.unlock();
        }
    }

    /** Requires that the dialogue goes on. Later calls, which may come from other threads, fail for the same reason as the one that broke it. */
    private void requireRunning(String method) {
        if (ended) {
            throw new Ended(reason.orElse(Failure.API.problem("the server has ended", place(method))));
        }
    }

    /** The failure of a call whose process had ended before. */
    private static final class Ended extends KilnException {
        private static final long serialVersionUID = 1L;

        Ended(Problem problem) {
            super(problem);
        }
    }

    private void send(String request) {
        try {
            process.input().write((request + "\n").getBytes(StandardCharsets.UTF_8));
            process.input().flush();
        } catch (IOException e) {
            throw new KilnException(Failure.API.problem("the server ended without an answer", ""), e);
        }
    }

    private String answer(Duration limit) {
        LineReader.Line line = lines.next(System.nanoTime() + limit.toNanos());
        return switch (line.ending()) {
            case COMPLETE -> line.text();
            case LATE ->
                throw Failure.API.exception("the server did not answer within " + limit.toMillis() + " ms", "");
            case END -> throw Failure.API.exception("the server ended without an answer", "");
            case TOO_LONG -> throw Message.malformed("the answer is longer than " + (MOST_BYTES >> 20) + " MiB");
            case NOT_UTF8 -> throw Message.malformed("the answer is not UTF-8");
        };
    }

    /** Ends the process and returns the failure with the server's place and its last output. */
    private KilnException broken(String method, KilnException failure) {
        ended = true;
        kill();
        Problem problem = failure.problems().get(0);
        String errors = Printable.lines(process.errors().strip());
        String last = errors.length() <= MOST_ERRORS ? errors : "..." + errors.substring(errors.length() - MOST_ERRORS);
        String next = last.isEmpty() ? problem.next() : problem.next() + "\nIts last messages:\n" + last;
        Problem whole = new Problem(problem.family(), problem.what(), place(method), problem.expected(), next.strip());
        reason = Optional.of(whole);
        return new KilnException(whole, failure);
    }

    private String place(String method) {
        return name + ", " + method;
    }

    /** Waits for an answer on its way, closes the server's pipe, at which it ends by itself, and kills it otherwise. */
    @Override
    public void close() {
        turn.lock();
        try {
            if (!ended) {
                ended = true;
                process.input().close();
                process.waitFor(TIME_TO_END);
            }
        } catch (IOException e) {
            // It has ended already.
            return;
        } finally {
            kill();
            turn.unlock();
        }
    }

    private void kill() {
        process.close();
        output.close();
    }
}
