#include "analysis/analysis_point.h"

perp_status perp_analyze_closure(analysis_point *point, perp_error *error)
{
    return perp_analysis_reason(point, -1, error, "closure was not looked at");
}
