// SPDX-License-Identifier: Apache-2.0
/**
 * Pictures and recordings as inputs of models: files of PNG, JPEG and WAV become tensors as a file {@code samples.yaml} beside them says. The
 * files are untrusted: their bytes, pixels, parts and passes are bounded before memory is taken for them. Results depend on nothing of the
 * computer, in particular on no colour profile.
 */
package io.kiln.preprocess.media;
