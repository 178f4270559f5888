// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.job;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.device.rpc.client.TimedModel.RunTimes;
import io.kiln.farm.job.FarmAnswer.Call;
import io.kiln.farm.job.FarmAnswer.Counted;
import io.kiln.farm.job.FarmAnswer.Failed;
import io.kiln.farm.job.FarmAnswer.Flashed;
import io.kiln.farm.job.FarmAnswer.GivenUp;
import io.kiln.farm.job.FarmAnswer.Heard;
import io.kiln.farm.job.FarmAnswer.Held;
import io.kiln.farm.job.FarmAnswer.Outputs;
import io.kiln.farm.job.FarmAnswer.Profiled;
import io.kiln.farm.job.FarmAnswer.Ran;
import io.kiln.farm.job.FarmAnswer.Timed;
import io.kiln.farm.job.FarmAnswer.Traced;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * The binary form of results: {@code KILNRES6}, job, its digest, worker, what ran it, its console, kind of the answer and its fields. The number of a kind stays what it
 * is, and a new kind gets the next one; if a number or a field has to change, the form gets the next version.
 */
public final class ResultFormat {
    private static final long FORM = 0x4b494c4e52455336L;
    private static final int GIVEN_UP = 8;
    private static final int LAST_KIND = GIVEN_UP;

    /** Characters of a problem's part. */
    private static final int LONGEST = 10_000;

    private ResultFormat() {}

    public static Bytes write(FarmResult result) {
        WireWriter out = new WireWriter()
                .number(FORM)
                .text(result.job())
                .text(result.digest())
                .text(result.worker())
                .text(result.ranOn())
                .bytes(result.console());
        FarmAnswer answer = result.answer();
        if (answer instanceof Ran ran) {
            out.number(0).list(ran.models(), model -> held(out, model));
            out.list(ran.runs(), outputs -> out.list(outputs.bytes(), out::bytes));
            problems(out, ran.failure());
            stack(out, ran.stack());
        } else if (answer instanceof Counted counted) {
            out.number(1)
                    .list(
                            counted.calls(),
                            call -> out.number(call.instructions()).number(call.verdict()));
            out.list(counted.failure().stream().toList(), out::text);
        } else if (answer instanceof Profiled profiled) {
            out.number(2).number(profiled.total()).list(profiled.operators(), each -> out.number(each));
            out.list(profiled.outputs(), out::bytes).list(profiled.blocks(), block -> block(out, block));
            stack(out, profiled.stack());
        } else if (answer instanceof Flashed flashed) {
            out.number(3).text(flashed.tool()).text(flashed.probe()).number(flashed.bytes());
            out.flag(flashed.isUnchanged()).number(flashed.milliseconds());
        } else if (answer instanceof Failed failed) {
            problems(out.number(4), failed.problems());
        } else if (answer instanceof Traced traced) {
            out.number(5).list(traced.blocks(), block -> block(out, block));
        } else if (answer instanceof Heard heard) {
            out.number(6).list(heard.lines(), out::text).flag(heard.isTimeOver());
        } else if (answer instanceof Timed timed) {
            out.number(7).list(timed.models(), model -> out.list(model.seconds(), each -> out.list(each, out::real)));
        } else if (answer instanceof GivenUp givenUp) {
            out.number(GIVEN_UP).number(givenUp.tries());
        }
        return out.content();
    }

    private static void held(WireWriter out, Held model) {
        out.text(model.name())
                .list(model.inputBytes(), size -> out.number(size))
                .list(model.outputBytes(), size -> out.number(size));
    }

    private static void stack(WireWriter out, OptionalLong used) {
        out.number(used.orElse(0));
    }

    private static void block(WireWriter out, ExecutedBlock block) {
        out.number(block.owner()).number(block.start()).number(block.instructions());
        out.number(block.count()).number(block.taken());
    }

    private static void problems(WireWriter out, List<Problem> problems) {
        out.list(
                problems,
                problem -> out.text(problem.family().name())
                        .text(cut(problem.what()))
                        .text(cut(problem.where()))
                        .text(cut(problem.expected()))
                        .text(cut(problem.next())));
    }

    /** A tool may say more than a text of a message has room for. */
    private static String cut(String text) {
        return text.length() <= LONGEST ? text : text.substring(0, text.offsetByCodePoints(0, LONGEST / 2)) + "…";
    }

    /**
     * Reads a result.
     *
     * @throws io.kiln.base.KilnException if the bytes are not a result, or one of another version
     */
    public static FarmResult read(Bytes content) {
        WireReader in = new WireReader(content);
        in.form(FORM, "a result");
        String job = in.text();
        String digest = in.text();
        String worker = in.text();
        String ranOn = in.text();
        Bytes console = in.bytes();
        FarmAnswer answer = answer(in);
        in.end();
        return new FarmResult(job, digest, worker, ranOn, answer, console);
    }

    private static FarmAnswer answer(WireReader in) {
        return switch (in.number(LAST_KIND)) {
            case 0 ->
                new Ran(
                        in.list(() -> new Held(in.text(), in.list(() -> size(in)), in.list(() -> size(in)))),
                        in.list(() -> new Outputs(in.list(in::bytes))),
                        problems(in),
                        stack(in));
            case 1 ->
                new Counted(
                        in.list(() -> new Call(in.number(), in.number())),
                        Optional.of(in.list(in::text))
                                .filter(texts -> !texts.isEmpty())
                                .map(texts -> texts.get(0)));
            case 2 ->
                new Profiled(
                        in.number(),
                        in.list(() -> in.number()),
                        in.list(in::bytes),
                        in.list(() -> block(in)),
                        stack(in));
            case 3 -> new Flashed(in.text(), in.text(), in.number(), in.flag(), in.number());
            case 4 -> new Failed(problems(in));
            case 5 -> new Traced(in.list(() -> block(in)));
            case 6 -> new Heard(in.list(in::text), in.flag());
            case 7 -> new Timed(in.list(() -> new RunTimes(in.list(() -> in.list(in::real)))));
            default -> new GivenUp(size(in));
        };
    }

    private static int size(WireReader in) {
        return in.number(Integer.MAX_VALUE);
    }

    /** The use of a stack; empty if it is not known, which is written as 0. */
    private static OptionalLong stack(WireReader in) {
        int used = size(in);
        return used == 0 ? OptionalLong.empty() : OptionalLong.of(used);
    }

    private static ExecutedBlock block(WireReader in) {
        return new ExecutedBlock(size(in), in.number(), size(in), in.number(), in.number());
    }

    private static List<Problem> problems(WireReader in) {
        return in.list(() -> new Problem(family(in), in.text(), in.text(), in.text(), in.text()));
    }

    private static Failure family(WireReader in) {
        String name = in.text();
        return Stream.of(Failure.values())
                .filter(family -> family.name().equals(name))
                .findFirst()
                .orElseThrow(() -> WireReader.malformed("it has the family " + name));
    }
}
