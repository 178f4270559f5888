// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.job;

/**
 * The result of a job.
 *
 * @param job its id
 * @param digest of the job that was run, so that an answer to another one is noticed; empty for a job that was not
 * @param worker name of the worker
 * @param ranOn what ran the image, as reports name it
 * @param answer its outcome
 */
public record FarmResult(String job, String digest, String worker, String ranOn, FarmAnswer answer) {}
