// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.client;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmAnswer.Counted;
import io.kiln.farm.job.FarmAnswer.Failed;
import io.kiln.farm.job.FarmAnswer.Flashed;
import io.kiln.farm.job.FarmAnswer.GivenUp;
import io.kiln.farm.job.FarmAnswer.Heard;
import io.kiln.farm.job.FarmAnswer.Profiled;
import io.kiln.farm.job.FarmAnswer.Ran;
import io.kiln.farm.job.FarmAnswer.Timed;
import io.kiln.farm.job.FarmAnswer.Traced;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmResult;
import io.kiln.farm.job.FarmTask;
import io.kiln.farm.job.FarmTask.Call;
import io.kiln.farm.job.FarmTask.Count;
import io.kiln.farm.job.FarmTask.Flash;
import io.kiln.farm.job.FarmTask.Listen;
import io.kiln.farm.job.FarmTask.Profile;
import io.kiln.farm.job.FarmTask.Run;
import io.kiln.farm.job.FarmTask.Time;
import io.kiln.farm.job.FarmTask.Trace;
import io.kiln.farm.job.JobFormat;
import java.util.List;
import java.util.Optional;

/** Judges whether an answer can be one to a job: by the job's digest, and by what must be there as often as it was asked for. */
final class AnswerCheck {
    private AnswerCheck() {}

    /** What is wrong with an answer; empty if it may be right. */
    static Optional<String> problem(FarmJob job, FarmResult result) {
        FarmAnswer answer = result.answer();
        if (answer instanceof GivenUp) {
            // The broker says that, and only where no worker did.
            return result.worker().isEmpty() ? Optional.empty() : Optional.of("it says that it was given up");
        }
        if (!result.digest().equals(digest(JobFormat.write(job)))) {
            return Optional.of("it is the answer to another job");
        }
        if (answer instanceof Failed failed) {
            return failed.problems().isEmpty() ? Optional.of("it failed without a reason") : Optional.empty();
        }
        return fits(job.task(), answer) ? Optional.empty() : Optional.of("it answers something else than was asked");
    }

    /** The digest by which a job is known. */
    static String digest(Bytes job) {
        return Digests.sha256(job.toArray());
    }

    private static boolean fits(FarmTask task, FarmAnswer answer) {
        if (task instanceof Run run) {
            return answer instanceof Ran ran && fits(run.calls(), ran);
        }
        if (task instanceof Count count) {
            return answer instanceof Counted counted
                    && are(count.functions().size(), counted.calls().size(), counted.hasFailed())
                    && counted.calls().stream().allMatch(call -> call.instructions() >= 0);
        }
        if (task instanceof Profile profile) {
            return answer instanceof Profiled profiled && fits(profile, profiled);
        }
        if (task instanceof Trace) {
            return answer instanceof Traced;
        }
        if (task instanceof Listen listen) {
            return answer instanceof Heard heard
                    && are(listen.lines(), heard.lines().size(), true)
                    && heard.lines().stream().allMatch(line -> line.startsWith(listen.prefix()));
        }
        if (task instanceof Time time) {
            return answer instanceof Timed timed
                    && timed.models().size() == time.models().size();
        }
        return task instanceof Flash && answer instanceof Flashed flashed && flashed.bytes() >= 0;
    }

    private static boolean are(int wanted, int found, boolean mayBeFewer) {
        return mayBeFewer ? found <= wanted : found == wanted;
    }

    private static boolean fits(List<Call> calls, Ran ran) {
        if (!are(calls.size(), ran.runs().size(), ran.hasFailed())) {
            return false;
        }
        for (int i = 0; i < ran.runs().size() && !ran.models().isEmpty(); i++) {
            int model = calls.get(i).model();
            List<Integer> sizes =
                    ran.runs().get(i).bytes().stream().map(Bytes::size).toList();
            if (model >= ran.models().size()
                    || !sizes.equals(ran.models().get(model).outputBytes())) {
                return false;
            }
        }
        return true;
    }

    /** Operators run within the run, so together they have no more instructions than it. */
    private static boolean fits(Profile profile, Profiled profiled) {
        long sum = 0;
        for (long instructions : profiled.operators()) {
            if (instructions < 0 || instructions > profiled.total() - sum) {
                return false;
            }
            sum += instructions;
        }
        return profiled.operators().size() == profile.operators().size();
    }
}
