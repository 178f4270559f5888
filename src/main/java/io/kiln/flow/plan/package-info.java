// SPDX-License-Identifier: Apache-2.0
/** Test plans: models that are verified on many boards, here or on a farm. */
package io.kiln.flow.plan;
